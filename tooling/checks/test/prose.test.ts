// The word list finds what it is for, where users read it, and nothing else.
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Finding {
  readonly line: number;
  readonly phrase: string;
  readonly hit: string;
}
const { check } = (await import(join(import.meta.dirname, '..', '..', '..', 'scripts', 'check-prose.mjs'))) as {
  check(file: string, source: string): readonly Finding[];
};
const hits = (file: string, source: string): readonly string[] => check(file, source).map(({ hit }) => hit);

it.each([
  ['nobody asks about the object any more', ['nobody', 'any more', 'asks about']],
  ['the answer is no object with metadata', ['is no object']],
  ['poll failed, what is known stays', ['what is known']],
  ['a source that nothing waits for failed', ['nothing waits for']],
  ['the schedule names no time', ['names no']],
  ['needs a terminal, which a controller has not', ['has not']],
  ['the items of the list end with a brace', ['end with a brace']],
  ['the lock is left alone', ['is left alone']],
  ['Hears of handlers that fail', ['Hears']],
  ['It is told of every change, one worker a key', ['told', 'one worker a key']],
  ['waits for ever, in silence', ['for ever', 'in silence']],
])('finds %j', (text, expected) => {
  expect([...hits('README.md', text)].sort()).toEqual([...expected].sort());
  expect(hits('a.ts', `throw new Error(\`${text}\`);`)).toHaveLength(expected.length);
});

it('names the line, in documents and in code', () => {
  expect(check('README.md', 'one\ntwo somebody\n')).toMatchObject([{ line: 2, phrase: 'nobody, somebody, whoever' }]);
  expect(check('a.ts', 'const a = 1;\n/**\n * For whoever\n * reads.\n */\n')).toMatchObject([
    { line: 3, hit: 'whoever' },
  ]);
});

it('finds a message that names nothing but what is missing', () => {
  expect(hits('a.ts', "throw new Error('there is no kind');")).toEqual(['there is no kind']);
  expect(hits('a.ts', 'throw new Error(`there are no objects to mutate`);')).toEqual(['there are no objects']);
  expect(hits('a.ts', "throw new Error('there is no content to decode: request.object is missing');")).toEqual([]);
});

it.each([
  'There is no such object, and the lease is no longer held; no more than five.',
  'A known kind that the scheme does not have.',
  'See [what a view contains](../designs/004-what-a-cache-view-knows.md).',
])('passes %j', (text) => {
  expect(hits('README.md', text)).toEqual([]);
});

it('leaves names and line comments of code alone', () => {
  expect(hits('a.ts', 'const told = new Set(); // whoever reads this\nif (hears) tells(told);\n')).toEqual([]);
});
