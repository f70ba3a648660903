import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const typescript = join(root, 'scripts', 'typescript.mjs');

/** MB that the young generation takes behind 40 MB of objects that survive, as those of a first list do. */
async function youngGenerationOf(begin: string, ...flags: readonly string[]): Promise<number> {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepYoungGenerationSmall } from ${JSON.stringify(join(import.meta.dirname, 'young-generation.ts'))};
    ${begin};
    globalThis.kept = Array.from({ length: 200_000 }, (_, i) => ({ name: 'object-' + i, labels: { shard: String(i), app: 'x' + i } }));
    const { space_size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    console.log(space_size / 2 ** 20);
  `;
  const args = [...flags, '--import', typescript, '--input-type=module', '--eval', program];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  expect(stderr).toBe('');
  return Number(stdout);
}

describe('keepYoungGenerationSmall', () => {
  it('has the young generation stay small, where it grows by itself', async () => {
    expect(await youngGenerationOf('keepYoungGenerationSmall()')).toBeLessThanOrEqual(8);
    expect(await youngGenerationOf('')).toBeGreaterThan(8);
  });

  it('leaves a size alone that Node was given', async () => {
    expect(await youngGenerationOf('keepYoungGenerationSmall()', '--max-semi-space-size=32')).toBeGreaterThan(8);
  });
});
