import { isManifestError, readManifests } from '@kctl/manifests';
import { describe, expect, it } from 'vitest';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const list = (item: unknown): { apiVersion: string; kind: string; items: unknown[] } => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [item],
});
const lists = (depth: number): ReturnType<typeof list> => {
  let result = list({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  for (let count = 1; count < depth; count++) result = list(result);
  return result;
};

async function problemOf(source: string | object): Promise<string> {
  const error: unknown = await readManifests(source as never).catch((reason: unknown) => reason);
  return isManifestError(error) ? error.message : `no ManifestError: ${String(error)}`;
}

describe('manifests that are nested without an end', () => {
  it.each([
    ['sequences of YAML', `${head}x: ${'['.repeat(50_000)}${']'.repeat(50_000)}\n`],
    ['mappings of YAML', `${head}x: ${'{a: '.repeat(50_000)}1${'}'.repeat(50_000)}\n`],
    ['blocks of YAML', `${head}x:\n${'- '.repeat(50_000)}a\n`],
    ['brackets without an end', `${head}x: ${'['.repeat(50_000)}`],
    ['JSON', `{"apiVersion":"v1","kind":"ConfigMap","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('are refused by name: %s', async (_name, text) => {
    expect(await problemOf(text)).toContain('manifest 1: not YAML: line ');
    expect(await problemOf(text)).toContain('exceeded max depth');
  });

  it('are refused as Lists in Lists, as text and as objects', async () => {
    expect(await readManifests(JSON.stringify(lists(20)))).toHaveLength(1);
    expect(await problemOf(lists(21))).toContain('20 Lists are within one another: expected objects in a List');
    expect(await problemOf(lists(50_000))).toContain('20 Lists are within one another');
    expect(await problemOf(JSON.stringify(lists(300)))).toContain('20 Lists are within one another');
    const cyclic: { apiVersion: string; kind: string; items: unknown[] } = list({});
    cyclic.items.push(cyclic);
    expect(await problemOf(cyclic)).toContain('20 Lists are within one another');
  });

  it('are read one after another, with as many anchors as they have', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `  a${index}: &x${index} "1"\n  b${index}: *x${index}`);
    const [only] = await readManifests(`${head}data:\n${lines.join('\n')}\n`);
    expect(only?.object).toHaveProperty('data.b4999', '1');
  });
});
