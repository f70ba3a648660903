// What the reconciles of a model do, and which keys have to be reconciled yet.
import type { FakeClock } from '@kctl/wait/testing';
import type { ReconcileRequest } from '../../src/index.js';
import type { Deed } from './actions.js';

/** What reconciles see of the model around them. */
export interface WorkWorld {
  readonly clock: FakeClock;
  /** Whether events of pods reach the controller. */
  readonly isLive: () => boolean;
  readonly inFlight: () => readonly string[];
  /** Called when a reconcile begins. */
  readonly onBegin: () => void;
  readonly must: (isTrue: boolean, what: string) => void;
}

/** The reconciler of a model: does one deed after another, and nothing out of the way while it is calm. */
export class LifeWork {
  /** Keys that a reconcile has to begin after. */
  readonly owed: Set<string> = new Set();
  readonly running: Set<string> = new Set();
  isCalm = false;
  readonly #hanging = new Set<() => void>();
  readonly #deeds: Deed[];
  readonly #world: WorkWorld;

  constructor(deeds: readonly Deed[], world: WorkWorld) {
    this.#deeds = [...deeds];
    this.#world = world;
  }

  /** Ends what hangs. */
  release(): void {
    for (const release of this.#hanging) release();
    this.#hanging.clear();
  }

  async reconcile({ namespace, name }: ReconcileRequest, signal: AbortSignal): Promise<never> {
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    this.#world.onBegin();
    this.#world.must(!this.running.has(key), `${key} is reconciled twice at once`);
    this.#world.must(this.#world.inFlight().includes(key), `${key} is not in flight`);
    this.running.add(key);
    this.owed.delete(key);
    const deed = this.isCalm ? 'done' : (this.#deeds.shift() ?? 'done');
    const owes = !['done', 'hang', 'slow'].includes(deed);
    try {
      return (await this.#perform(deed, signal)) as never;
    } finally {
      this.running.delete(key);
      if (owes && this.#world.isLive() && namespace !== undefined) this.owed.add(key);
    }
  }

  #perform(deed: Deed, signal: AbortSignal): Promise<unknown> {
    switch (deed) {
      case 'done':
        return Promise.resolve();
      case 'fail':
        return Promise.reject(new Error('failed'));
      case 'throw':
        throw new TypeError('a mistake');
      case 'hostile':
        return Promise.reject(Object.create(null)); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- the subject
      case 'garbage':
        return Promise.resolve({ requeueAfterMs: Number.NaN });
      case 'backoff':
        return Promise.resolve({ backoff: true });
      case 'requeue':
        return Promise.resolve({ requeueAfterMs: 30 });
      case 'requeueNow':
        return Promise.resolve({ requeueAfterMs: 0 });
      case 'requeuePast':
        return Promise.resolve({ requeueAfterMs: -5, keep: true });
      case 'untilStop':
        return new Promise((_resolve, reject) => {
          this.#hanging.add(() => reject(new Error('released')));
          if (signal.aborted) reject(signal.reason as Error);
          else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      case 'hang':
        return new Promise((resolve) => this.#hanging.add(() => resolve(undefined)));
      case 'slow':
        return new Promise((resolve) => void this.#world.clock.setTimer(() => resolve(undefined), 50));
    }
  }
}
