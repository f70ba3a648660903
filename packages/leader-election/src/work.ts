import { anySignal, type Clock, untilAborted } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';

/** The observed work of the owner while it leads. */
export interface Work {
  /** Whether it has ended. */
  readonly settled: boolean;
  /** The error with which it failed before its signal was aborted. */
  readonly failure: { readonly error: unknown } | undefined;
  /** Aborted by such a failure. */
  readonly failed: AbortSignal;
  /** Resolves when it has ended, in whatever way. */
  readonly done: Promise<void>;
}

/** Starts the work. `onLateFailure` is called with failures after `signal` was aborted, other than the abort itself. */
export function startWork(
  run: () => void | Promise<void>,
  signal: AbortSignal,
  onLateFailure: (error: unknown) => void,
): Work {
  const failed = new AbortController();
  let settled = false;
  let failure: { readonly error: unknown } | undefined;
  const done = (async () => await run())().then(
    () => {
      settled = true;
    },
    (error: unknown) => {
      settled = true;
      if (signal.aborted) {
        if (error !== signal.reason) onLateFailure(error);
        return;
      }
      failure = { error };
      failed.abort(error);
    },
  );
  return {
    get settled() {
      return settled;
    },
    get failure() {
      return failure;
    },
    failed: failed.signal,
    done,
  };
}

/** Resolves when the work has ended, the signal is aborted, or `timeoutMs` have passed. */
export async function settledWithin(
  work: Work,
  timeoutMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const late = new AbortController();
  const timer = startTimer(clock, () => late.abort(), Math.max(0, timeoutMs));
  using either = anySignal([late.signal, signal]);
  await untilAborted(work.done, either.signal);
  timer.cancel();
}
