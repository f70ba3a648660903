import type * as Threads from 'node:worker_threads';

/** ES2024, which TypeScript's library for ES2023 does not know. */
interface Transferable {
  transfer?(byteLength: number): ArrayBuffer;
}

let threads: Pick<typeof Threads, 'isMarkedAsUntransferable'> | undefined;

/** Not by an import: bundles for other runtimes may lack it. */
function loaded(): Partial<Pick<typeof Threads, 'isMarkedAsUntransferable'>> {
  return (threads ??= process.getBuiltinModule('node:worker_threads'));
}

/**
 * Gives memory back that nothing reads again, without waiting for the garbage collector: views of it are empty from then
 * on. Memory of which Node cuts many small buffers (8 KiB in Node 24, 64 KiB in Node 26, `Buffer.poolSize`) is left
 * alone, as is shared memory; where the runtime cannot tell the two apart, the collector does it all.
 */
export function freeMemory(memory: ArrayBufferLike & Transferable): void {
  if (!(memory instanceof ArrayBuffer) || memory.transfer === undefined) return;
  if (loaded().isMarkedAsUntransferable?.(memory) === false) memory.transfer(0);
}
