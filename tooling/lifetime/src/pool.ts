import { afterAll, beforeAll } from 'vitest';

/** Runs the tests of the surrounding `describe` with a pool of another size, of which Node cuts small buffers. */
export function withPoolOf(kibibytes: number): void {
  const before = Buffer.poolSize;
  beforeAll(() => {
    usePool(kibibytes * 1024);
  });
  afterAll(() => {
    usePool(before);
  });
}

/** A size counts from the next pool on: what is left of the present one is used up. */
function usePool(bytes: number): void {
  const used = new Set([Buffer.allocUnsafe(8).buffer]);
  Buffer.poolSize = bytes;
  while (used.has(Buffer.allocUnsafe(1024).buffer));
}
