import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { numberOption, optionProblems, signalOption } from '@kctl/options';
import { abortReason, startTimer } from '@kctl/wait/internal';

/** What `waitForSync` and `waitForResourceVersion` take. */
export interface InformerWaitOptions {
  /** Gives up after this many ms. @default no limit */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

interface Waiter {
  readonly isDone: () => boolean;
  readonly settle: (error?: Error) => void;
}

/** A limit under a name that is not known would have the wait go on for good. */
export const waitNames: OptionNames<InformerWaitOptions> = {
  timeoutMs: numberOption({ orInfinity: true }),
  signal: signalOption,
};

/** Waits for conditions that are checked when something may have changed. */
export class Waiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves once `isDone`. `onTimeout` makes the error of a wait that took too long. */
  wait(isDone: () => boolean, options: InformerWaitOptions, onTimeout: () => Error): Promise<void> {
    const [problem] = optionProblems(options, waitNames);
    if (problem !== undefined) return Promise.reject(new TypeError(`cannot wait: ${problem}`));
    const { signal, timeoutMs } = options;
    if (isDone()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortReason(signal));
        return;
      }
      const onAbort = (): void => {
        if (signal !== undefined) waiter.settle(abortReason(signal));
      };
      const timer =
        timeoutMs === undefined ? undefined : startTimer(this.#clock, () => waiter.settle(onTimeout()), timeoutMs);
      const waiter: Waiter = {
        isDone,
        settle: (error) => {
          if (!this.#waiters.delete(waiter)) return;
          timer?.cancel();
          signal?.removeEventListener('abort', onAbort);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Something changed. Settles the waits whose condition holds. */
  check(): void {
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) if (waiter.isDone()) waiter.settle();
  }

  /** Nothing will change from now on. */
  fail(error: () => Error): void {
    for (const waiter of this.#waiters) waiter.settle(error());
  }
}
