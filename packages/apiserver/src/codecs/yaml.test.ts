import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { toYaml } from './yaml.js';

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
