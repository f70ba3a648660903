// What a process uses, taken the same way by every subject in Node.
import { memoryUsage, cpuUsage } from 'node:process';

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
