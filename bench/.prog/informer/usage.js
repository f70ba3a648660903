// What a process uses, taken the same way by every subject in Node.
import { memoryUsage, cpuUsage, threadCpuUsage } from 'node:process';

/** CPU time of all threads so far. */
export function cpuMs()         {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Resident memory. */
export function residentBytes()         {
  return memoryUsage.rss();
}

/** Collects garbage and gives freed pages time to go back. */
export async function rest()                {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

/** How long this thread computed between two turns of a 1 ms timer, in ms. */
                        
                           
                                                  
                        
 

/**
 * Watches how long this thread computes between two turns of a 1 ms timer. Unlike the wall time between them that says
 * nothing of other processes that wanted the core.
 */
export function turns()              {
  const now = ()         => {
    const { user, system } = threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = now();
  const took           = [];
  const note = ()       => {
    const at = now();
    took.push(at - last);
    last = at;
  };
  const timer = setInterval(note, 1);
  return () => {
    note();
    clearInterval(timer);
    took.sort((a, b) => a - b);
    return { longest: took.at(-1) ?? 0, p999: took[Math.floor(took.length * 0.999)] ?? 0 };
  };
}

/** The longest of {@link turns}. */
export function longestTurn()               {
  const end = turns();
  return () => end().longest;
}
