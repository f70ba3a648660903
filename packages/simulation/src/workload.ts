import { messageOf } from '@kctl/telemetry/internal';
import { sleep, type Clock } from '@kctl/wait';
import type { World } from './world.js';

/** How long a workload may go on after the faults have ended, in ms, because one could wait forever. */
const longestWorkMs = 4 * 3_600_000;

/**
 * Runs the actions of users.
 *
 * @throws Error naming the seed if the workload rejects, or does not end
 */
export async function runWorkload(
  workload: (world: World) => Promise<void>,
  world: World,
  faultMs: number,
): Promise<void> {
  const mostMs = faultMs + longestWorkMs;
  let isDone: boolean;
  try {
    isDone = await isDoneWithin(mostMs, workload(world), world.clock);
  } catch (error) {
    throw new Error(`simulate: the workload of seed ${world.seed} failed: ${messageOf(error)}`, { cause: error });
  }
  if (!isDone)
    throw new Error(
      `simulate: the workload of seed ${world.seed} has not ended after ${Math.round(mostMs / 60_000)} simulated minutes: it waits for what does not come. Let it do what users do, and put what must become true into settled`,
    );
}

/** Interval of convergence checks, in simulated ms. */
const askEveryMs = 5_000;

/** Conditions that {@link converge} waits for. */
export interface Convergence {
  readonly settled: () => Promise<void> | void;
  /** Whether the operator has written nothing for a while. */
  readonly isIdle: () => boolean;
  readonly withinMs: number;
  readonly clock: Clock;
}

/**
 * Waits until all is settled and idle. Returns the reason if it is not when the time is over. Later work is checked in
 * quiet times.
 */
export async function converge({
  settled,
  isIdle,
  withinMs,
  clock,
}: Convergence): Promise<{ readonly error: unknown } | undefined> {
  const deadline = clock.monotonicNow() + withinMs;
  for (;;) {
    await sleep(askEveryMs, { clock });
    try {
      const leftMs = Math.max(askEveryMs, deadline - clock.monotonicNow());
      if (!(await isDoneWithin(leftMs, settled(), clock))) throw new Error('settled has not returned');
      if (isIdle() || clock.monotonicNow() >= deadline) return undefined;
    } catch (error) {
      if (clock.monotonicNow() >= deadline) return { error };
    }
  }
}

/** Whether it resolves within so many ms of the clock. @throws what it rejects with */
async function isDoneWithin(ms: number, work: Promise<void> | void, clock: Clock): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const timer = clock.setTimer(() => resolve(false), ms);
  try {
    return await Promise.race([Promise.resolve(work).then(() => true as const), promise]);
  } finally {
    timer.cancel();
  }
}
