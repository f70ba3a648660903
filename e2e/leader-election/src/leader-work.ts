import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { Client } from '@kctl/client';
import { isNotLeader } from '@kctl/leader-election';
import { sleep } from '@kctl/wait';
import { protectedName, sharedNow, type LogEntry } from './protocol.js';

/** What the work of a candidate is done with. */
export interface WorkParts {
  readonly identity: string;
  readonly namespace: string;
  readonly log: (entry: LogEntry) => void;
  /** Called between the begin of a write and its answer. */
  readonly amidWrite: () => void;
}

/** What guards one term. */
export interface Guard {
  readonly client: Client;
  /** @throws NotLeaderError */
  check(): void;
}

/** Writes the protected object, over and over, in terms that are numbered. */
export class LeaderWork {
  readonly #parts: WorkParts;
  #terms = 0;
  #writes = 0;
  /** Until when the work pays no attention to its signal. */
  #straggleUntil = 0;
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  get term(): number {
    return this.#terms;
  }

  /** From now on the work goes on for this long, whatever it is told. */
  straggle(ms: number): void {
    this.#straggleUntil = sharedNow() + ms;
  }

  /** Resolves when no work is left. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  run(signal: AbortSignal, guard: Guard): Promise<void> {
    this.#ended = this.#work(signal, guard);
    return this.#ended;
  }

  async #work(signal: AbortSignal, guard: Guard): Promise<void> {
    const { identity, namespace, log, amidWrite } = this.#parts;
    const term = ++this.#terms;
    log({ what: 'lead', at: sharedNow(), term });
    while (!signal.aborted || sharedNow() < this.#straggleUntil) {
      const isStraggler = signal.aborted;
      const write = ++this.#writes;
      let outcome: 'ok' | 'refused' | 'failed' = 'ok';
      try {
        if (!isStraggler) guard.check();
        log({ what: 'begin', at: sharedNow(), term, write });
        const body = { data: { writer: identity, term: String(term), write: String(write) } };
        const key = { namespace, name: protectedName };
        const patch = { type: 'merge', body } as const;
        const answer = guard.client.patch(ConfigMap, key, patch, isStraggler ? {} : { signal });
        amidWrite();
        await answer;
      } catch (error) {
        // Work that is left over does more than write: it counts as done, also where its writes are refused.
        outcome = isStraggler ? 'ok' : isNotLeader(error) ? 'refused' : 'failed';
      }
      log({ what: 'end', at: sharedNow(), term, write, outcome });
      await (isStraggler ? sleep(20) : sleep(20, { signal }).catch(() => undefined));
    }
  }
}
