import { readFileSync } from 'node:fs';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { defineKind } from '@kctl/apimachinery';
import { expect, it } from 'vitest';
import { mayHaveStatus } from './has-status.js';

interface Fact {
  readonly group: string;
  readonly plural: string;
  readonly served: boolean;
  readonly subresources?: readonly { readonly name: string }[];
}

it('knows the built-in kinds that have a status subresource, as discovery lists them', () => {
  const path = new URL('../../../tooling/kube-facts/facts.json', import.meta.url);
  const { kinds } = JSON.parse(readFileSync(path, 'utf8')) as { readonly kinds: readonly Fact[] };
  const served = new Map<string, boolean>();
  for (const { group, plural, subresources, served: isServed } of kinds)
    if (isServed) served.set(`${plural}.${group}`, subresources?.some(({ name }) => name === 'status') === true);
  const found = builtInKinds.map((kind) => [`${kind.plural}.${kind.group}`, mayHaveStatus(kind)] as const);
  expect(found.length).toBeGreaterThan(60);
  expect(new Map(found)).toEqual(new Map(found.map(([name]) => [name, served.get(name)])));
});

it('assumes it of custom kinds', () => {
  for (const group of ['example.com', 'constructor'])
    expect(mayHaveStatus(defineKind()({ group, version: 'v1', kind: 'Secret', scope: 'Namespaced' }))).toBe(true);
});
