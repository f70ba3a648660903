// The rates count a habit where users read it, and nothing else.
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Passage {
  readonly file: string;
  readonly line: number;
  readonly words: string;
}
const { commentsIn, habits, messagesIn, ratesOf } = (await import(
  join(import.meta.dirname, '..', '..', '..', 'scripts', 'check-prose.mjs')
)) as {
  readonly habits: readonly { readonly habit: string; readonly limit: number }[];
  commentsIn(file: string, source: string): readonly Passage[];
  messagesIn(file: string, source: string): readonly Passage[];
  ratesOf(passages: readonly Passage[], corpus: string): { readonly words: number; readonly rates: readonly number[] };
};

/** The habits that a passage has. */
const found = (words: string, corpus = 'comments'): readonly (string | undefined)[] =>
  ratesOf([{ file: 'a', line: 1, words }], corpus).rates.flatMap((rate, index) =>
    rate > 0 ? [habits[index]?.habit.split(/[, ]/)[0]] : [],
  );

it.each([
  ['What a watch says.', ['a', 'says']],
  ['Undefined where the object has no owner.', ['where']],
  ['The authorizer is asked for a text.', ['asks', 'text']],
  ['Whoever holds it is told, and nobody any more.', ['judge', 'nobody', 'any']],
  ['The lease is lost: another replica may lead.', ['clauses']],
])('counts %j', (words, expected) => {
  expect(found(words)).toEqual(expected);
});

it.each([
  'Returns the objects of a namespace, or undefined if the cache does not have it.',
  'Whether the store has synced. No default.',
  'What happens on 410?',
])('counts nothing in %j', (words) => {
  expect(found(words)).toEqual([]);
});

it('counts no colon in messages, where the cause follows one', () => {
  expect(found('cannot list: forbidden', 'messages')).toEqual([]);
});

it('counts per 1,000 words', () => {
  const words = `${'word '.repeat(99)}where`;
  expect(ratesOf([{ file: 'a', line: 1, words }], 'comments')).toMatchObject({ words: 100 });
  expect(Math.max(...ratesOf([{ file: 'a', line: 1, words }], 'comments').rates)).toBe(10);
});

it('reads comments, adjoining lines as one, without code and without strings', () => {
  const source = [
    "const a = 'no comment // in a string';",
    '/** Calls `where` of the store, see {@link where}. */',
    'const b = `${a} // nor in a template`;',
    '// First line of a comment,',
    '// and the second one.',
    'const c = /* a short one */ 1;',
  ].join('\n');
  expect(commentsIn('a.ts', source)).toEqual([
    { file: 'a.ts', line: 2, words: 'Calls X of the store, see X. ' },
    { file: 'a.ts', line: 4, words: 'First line of a comment,\nand the second one.' },
    { file: 'a.ts', line: 6, words: 'a short one ' },
  ]);
});

it('reads the messages of errors and logs', () => {
  const source = "throw new TypeError('cannot read it');\nlogger.info(`starting the server`, { where: 1 });\n";
  expect(messagesIn('a.ts', source).map(({ line, words }) => [line, words])).toEqual([
    [1, 'cannot read it'],
    [2, 'starting the server'],
  ]);
});
