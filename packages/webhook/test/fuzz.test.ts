import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { fuzz } from './fuzz.js';

// `pnpm --filter @kctl/webhook fuzz` sends a million; FUZZ_SEED repeats a run.
const count = Number(process.env['FUZZ_COUNT'] ?? 5_000);
const seed = Number(process.env['FUZZ_SEED'] ?? 1);

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function heapBytes(): number {
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

it(
  `answers ${count} malformed requests, none of which ends the process or stays in memory (seed ${seed})`,
  async () => {
    await fuzz({ seed: seed + 1, count: Math.min(count, 2_000) }); // what is made once
    const before = heapBytes();
    const heaps: number[] = [];
    const { violations, allowed } = await fuzz({
      seed,
      count,
      onBatch: (done) => {
        heaps.push(heapBytes());
        console.log(`${done} requests, heap ${Math.round((heaps.at(-1) ?? 0) / 2 ** 20)} MiB`);
      },
    });
    expect(violations.slice(0, 5)).toEqual([]);
    // Enough get past the parser for the handlers to be tried, and enough do not.
    expect(allowed).toBeGreaterThan(count / 1_000);
    expect(allowed).toBeLessThan(count / 2);
    expect(heapBytes() - before).toBeLessThan(20 * 2 ** 20);
  },
  Infinity,
);
