import { sleep, systemClock, type Clock } from '@kctl/wait';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';

const pollMs = 200;
/** Time between two lines of progress, in ms. */
const progressMs = 5_000;
/** How long an object may take to become what is waited for, in ms. */
export const defaultTimeoutMs = 120_000;

/** Condition that is waited for, and its report. */
export interface Waiting {
  readonly io: Pick<CliIo, 'err' | 'signal'>;
  /** @default 120000 */
  readonly timeoutMs?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock;
  readonly isDone: () => Promise<boolean>;
  /** The state after the last call of `isDone`, which is printed every few seconds. */
  readonly progress: () => string;
  /** The message of the error after the time limit. */
  readonly late: (seconds: number) => string;
}

/** Polls until the condition holds, and prints the state every few seconds. @throws CliError if it takes too long */
export async function waitFor({
  io,
  timeoutMs = defaultTimeoutMs,
  clock = systemClock,
  ...waiting
}: Waiting): Promise<void> {
  const deadline = clock.monotonicNow() + timeoutMs;
  let next = clock.monotonicNow() + progressMs;
  while (!(await waiting.isDone())) {
    const now = clock.monotonicNow();
    if (now > deadline) throw new CliError(waiting.late(timeoutMs / 1000));
    if (now >= next) {
      io.err(`${waiting.progress()}\n`);
      next = now + progressMs;
    }
    await sleep(pollMs, { signal: io.signal, clock });
  }
}
