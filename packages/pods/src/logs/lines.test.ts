import fc from 'fast-check';
import { expect, it } from 'vitest';
import { linesOf } from './lines.js';

async function* batchesOf(pieces: readonly string[]): AsyncGenerator<readonly Uint8Array[], void, undefined> {
  for (const piece of pieces) yield [Buffer.from(piece)];
}

async function linesIn(pieces: readonly string[], maxBytes: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(batchesOf(pieces), maxBytes)) lines.push(line);
  return lines;
}

it('hands out a line of exactly the greatest length once, also where its end comes later', async () => {
  expect(await linesIn(['abcd', '\n', 'e\n'], 4)).toEqual(['abcd', 'e']);
});

it('hands out the same lines however the text is cut', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n'), { maxLength: 30 }).map((letters) => letters.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(30)), fc.integer({ min: 1, max: 6 }), async (all, cuts, maxBytes) => {
      const ends = [...new Set([0, ...cuts.filter((cut) => cut < all.length), all.length])].sort((a, b) => a - b);
      const pieces = ends.slice(1).map((end, index) => all.slice(ends[index], end));
      const lines = all.endsWith('\n') ? all.slice(0, -1).split('\n') : all.split('\n');
      const whole = lines.flatMap((line) => line.match(new RegExp(`.{1,${maxBytes}}`, 'g')) ?? ['']);
      expect(await linesIn(pieces, maxBytes)).toEqual(all === '' ? [] : whole);
    }),
  );
});

it('cuts a long line between two characters, wherever the text is cut', async () => {
  const letters = fc.constantFrom('a', 'é', '日', '😀', '\n');
  const text = fc.array(letters, { maxLength: 20 }).map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 9 }),
      async (all, step, maxBytes) => {
        const bytes = Buffer.from(all);
        const batches = async function* (): AsyncGenerator<readonly Uint8Array[], void, undefined> {
          for (let at = 0; at < bytes.length; at += step) yield [bytes.subarray(at, at + step)];
        };
        const pieces = await Array.fromAsync(linesOf(batches(), maxBytes));
        expect(pieces.join('')).toBe(all.replaceAll('\n', ''));
        for (const piece of pieces)
          expect(Buffer.byteLength(piece) <= maxBytes || Array.from(piece).length === 1).toBe(true);
      },
    ),
  );
});
