import type * as Threads from 'node:worker_threads';

/** ES2024, which TypeScript's library for ES2023 does not know. */
interface Transferable {
  transfer?(byteLength: number): ArrayBuffer;
}

let threads: Pick<typeof Threads, 'isMarkedAsUntransferable'> | undefined;

/** Not an import, because bundles for other runtimes may lack it. */
function loaded(): Partial<Pick<typeof Threads, 'isMarkedAsUntransferable'>> {
  return (threads ??= process.getBuiltinModule('node:worker_threads'));
}

/**
 * Releases memory that is no longer read, without waiting for the garbage collector. Views of it are empty from then
 * on. Memory from which Node cuts many small buffers (8 KiB in Node 24, 64 KiB in Node 26, `Buffer.poolSize`) is left
 * alone, as is shared memory; if the runtime cannot distinguish the two, everything is left to the collector.
 */
export function freeMemory(memory: ArrayBufferLike & Transferable): void {
  if (!(memory instanceof ArrayBuffer) || memory.transfer === undefined) return;
  if (loaded().isMarkedAsUntransferable?.(memory) === false) memory.transfer(0);
}
