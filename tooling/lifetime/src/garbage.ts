import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** A full collection of this worker's heap, which needs no flag of the process. */
function fullCollection(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    const exposed: unknown = runInNewContext('gc');
    if (typeof exposed !== 'function') throw new Error('V8 exposes no gc: run the test on Node.js');
    collect = () => void Reflect.apply(exposed, undefined, []);
  }
  collect();
}

/**
 * Collects garbage and lets finalizers and pending callbacks run. A target that a WeakRef gave out lives until the end
 * of the turn, so that each round takes a turn.
 */
export async function collectGarbage(rounds: number = 3): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    fullCollection();
  }
}

/** Bytes in use after a collection: the heap, and what it holds outside of it. */
export async function usedBytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
