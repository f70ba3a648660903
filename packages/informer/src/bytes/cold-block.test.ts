import { describe, expect, it } from 'vitest';
import type { CompactTenant } from './cold-block.js';
import { ColdBlock, headBytes, writeHead } from './cold-block.js';

const tenant = (uid: string, generation?: number): CompactTenant => ({ slab: undefined, offset: 0, uid, generation });
const uid = '0b5e55ed-0000-4000-8000-00000000000f';

/** A block whose heads are at `offset`, with its tenants at the places 100, 200 and so on; its bytes cannot be read. */
function blockOf(tenants: CompactTenant[], offset: number): ColdBlock {
  const buffer = Buffer.alloc(offset + tenants.length * headBytes, 0xff);
  for (const [index, each] of tenants.entries()) writeHead(buffer, offset + index * headBytes, each, (index + 1) * 100);
  const home = {
    imageOf: (): never => {
      throw new Error('decompressed');
    },
  };
  const block = new ColdBlock(home, tenants, 1_000, undefined);
  block.slab = { buffer, words: new Int32Array(0) };
  block.offset = offset;
  return block;
}

describe('a cold block', () => {
  it.each([0, 64])('has uids and generations of its tenants without being decompressed (heads at %i)', (offset) => {
    const block = blockOf([tenant(uid, 7), tenant('not usual', 2 ** 31), tenant(''), tenant(uid, 0)], offset);
    expect([100, 200, 300, 400].map((place) => block.uidAt(place))).toEqual([uid, undefined, undefined, uid]);
    expect([100, 200, 300, 400].map((place) => block.generationAt(place))).toEqual([7, undefined, -1, 0]);
    expect([block.uidAt(150), block.generationAt(150)]).toEqual([undefined, undefined]);
    expect(() => block.buffer).toThrow('decompressed');
    expect(() => block.words).toThrow('decompressed');
  });

  it('knows nothing of its tenants before it is stored', () => {
    const block = blockOf([tenant(uid, 7)], 0);
    block.slab = undefined;
    expect([block.uidAt(100), block.generationAt(100)]).toEqual([undefined, undefined]);
  });

  it('counts those that have not left', () => {
    const [one, two] = [tenant('1'), tenant('2')];
    const block = blockOf([one, two], 0);
    expect([block.leave(one), block.leave(one), block.leave(tenant('1'))]).toEqual([true, false, false]);
    expect([block.size, block.live, block.tenants]).toEqual([2, 1, [two]]);
  });
});
