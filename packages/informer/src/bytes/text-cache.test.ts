import { expect, it } from 'vitest';
import { TextCache } from './text-cache.js';

it.each([
  ['the same string again and again', ['shop', 'shop', 'shop']],
  [
    'strings of one slot, which have length, first and last letters in common',
    ['shop-a', 'ship-a', 'shop-a', 'shap-a'],
  ],
  ['one that begins like another', ['shop', 'shop-a', 'shop']],
  ['one that differs in its last letter alone', ['shop', 'shot', 'shop']],
  ['one letter, and none', ['a', '', 'b', '', 'a']],
])('reads %s, wherever it lies', (_what, texts) => {
  const cache = new TextCache();
  for (const [index, text] of texts.entries()) {
    const before = 'x'.repeat(index * 3);
    const bytes = Buffer.from(`${before}${text}yz`);
    expect(cache.read(bytes, before.length, before.length + text.length)).toBe(text);
    // The bytes belong to the caller.
    bytes.fill('n');
  }
});

it('tells apart each of more strings than it remembers', () => {
  const cache = new TextCache();
  const texts = Array.from({ length: 1_000 }, (_, index) => `namespace-${index}`);
  for (const text of [...texts, ...texts.toReversed()]) {
    const bytes = Buffer.from(text);
    expect(cache.read(bytes, 0, bytes.length)).toBe(text);
  }
});
