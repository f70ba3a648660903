import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { readYaml, toYaml } from './yaml.js';

test('a long list is the same in YAML as a short one, item by item', async () => {
  const item = { kind: 'K', data: { text: 'a\n\n  b\n', other: 'x'.repeat(100), list: [1, [2, { a: null }]] } };
  const list = (pad: string): object => ({
    metadata: { resourceVersion: '1' },
    kind: 'List',
    apiVersion: 'v1',
    items: [item, { pad }, 'text', item],
  });
  const [short, long] = [
    await toYaml(JSON.stringify(list('p'))),
    await toYaml(JSON.stringify(list('p'.repeat(1 << 20)))),
  ];
  expect(parse(long)).toEqual(list('p'.repeat(1 << 20)));
  expect(long.replace(/p{9,}/, 'p')).toBe(short.replace(/p{9,}/, 'p'));
});

test('texts that YAML 1.1 takes for something else are quoted', async () => {
  const value = { list: ['on', 'Off', 'y', '1_000', '0b1', '12:30', '2024-01-02', 'plain'], n: 'N', off: 'no' };
  const text = await toYaml(JSON.stringify(value));
  expect(parse(text, { version: '1.1' })).toEqual(value);
  expect(text).toContain('- plain\n');
});

test('a date and a time are strings, and yes is not', async () => {
  const text = 'date: 2024-01-02\ntime: 12:30\nfraction: 1:30.5\nmode: 0644\nflag: yes\n';
  const expected = { date: '2024-01-02', time: '12:30', fraction: '1:30.5', mode: 420, flag: true };
  expect((await readYaml(text)).value).toEqual(expected);
});
