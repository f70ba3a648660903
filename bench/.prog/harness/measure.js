// What a benchmark program in Node needs to measure itself.

/** One measurement, as each program prints it as a line of JSON. */
                         
                       
                          
                         
                              
                                
                            
                                                                         
                                
 

/** A server runs for months: what counts is the code as the compiler leaves it. Peers warm up as often. */
const warmUps = 3;

/** Runs `prepare` and `work` a few times to warm up, then again with the clocks running during `work`. */
export async function timed(work                       , prepare             = () => undefined)                  {
  for (let pass = 0; pass < warmUps; pass++) {
    prepare();
    await work();
  }
  prepare();
  // No forced collection here: with no queue alive it throws away compiled code, which no server would see.
  const cpu = process.cpuUsage();
  const start = performance.now();
  const ops = await work();
  const wallMs = performance.now() - start;
  const used = process.cpuUsage(cpu);
  return { ops, wallMs, cpuMs: (used.user + used.system) / 1000 };
}

/** Bytes in use after a full collection, outside of the heap included. */
export function heapBytes()         {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Watches a timer of 1 ms for the longest time that it was late. */
export function longestPause()                                            {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  return {
    reset: () => {
      longest = 0;
    },
    stop: () => {
      longest = Math.max(longest, performance.now() - last - 1);
      clearInterval(timer);
      return longest;
    },
  };
}

export function printSample(sample        )       {
  console.log(JSON.stringify({ peakRssMb: process.resourceUsage().maxRSS / 1024, ...sample }));
}
