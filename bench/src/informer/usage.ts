// What a process uses, taken the same way by every subject in Node.
import { memoryUsage, cpuUsage, threadCpuUsage } from 'node:process';

/** CPU time of all threads so far. */
export function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Resident memory. */
export function residentBytes(): number {
  return memoryUsage.rss();
}

/** Collects garbage and gives freed pages time to go back. */
export async function rest(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

/**
 * The longest time that this thread computed between two turns of a 1 ms timer. Unlike the wall time between them it
 * says nothing of other processes that wanted the core.
 */
export function longestTurn(): () => number {
  const now = (): number => {
    const { user, system } = threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = now();
  let longest = 0;
  const timer = setInterval(() => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
  }, 1);
  return () => {
    longest = Math.max(longest, now() - last);
    clearInterval(timer);
    return longest;
  };
}
