import { isAbortError } from '@kctl/wait';
import type { EventSink } from './cluster.js';

interface Used {
  /** How many clusters have it. */
  users: number;
  readonly stop: AbortController;
  /** Never rejects. */
  ended: Promise<void>;
}

/**
 * Deliverers of the events of clusters. Each runs once, from the start of the manager on, or from when its cluster was
 * added.
 */
export class EventSinks {
  readonly #fail: (error: unknown) => void;
  readonly #used = new Map<EventSink, Used>();
  readonly #running = new Set<Promise<void>>();
  #isStarted = false;

  /** @param fail called with the failure of one, at any time; must not throw */
  constructor(fail: (error: unknown) => void) {
    this.#fail = fail;
  }

  /** For one more cluster. */
  add(events: EventSink): void {
    const known = this.#used.get(events);
    if (known !== undefined) {
      known.users++;
      return;
    }
    const used: Used = { users: 1, stop: new AbortController(), ended: Promise.resolve() };
    this.#used.set(events, used);
    if (this.#isStarted) this.#launch(events, used);
  }

  /**
   * Removes one cluster; resolves when its recorded events are delivered, or at once if another cluster has the same
   * one.
   */
  async remove(events: EventSink, reason: unknown): Promise<void> {
    const used = this.#used.get(events);
    if (used === undefined || --used.users > 0) return;
    this.#used.delete(events);
    used.stop.abort(reason);
    await used.ended;
  }

  start(): void {
    this.#isStarted = true;
    for (const [events, used] of this.#used) this.#launch(events, used);
  }

  /** Resolves when all have ended. */
  async stop(reason: unknown): Promise<void> {
    for (const { stop } of this.#used.values()) stop.abort(reason);
    await Promise.all(this.#running);
  }

  #launch(events: EventSink, used: Used): void {
    const { signal } = used.stop;
    const ended = run(events, signal)
      .catch((error: unknown) => {
        // Rejecting with the abort signal's reason counts as having stopped.
        if (!signal.aborted || !isAbortError(error)) this.#fail(error);
      })
      .finally(() => this.#running.delete(ended));
    used.ended = ended;
    this.#running.add(ended);
  }
}

/** Turns a synchronous throw into a rejection. */
async function run(events: EventSink, signal: AbortSignal): Promise<void> {
  await events.run(signal);
}
