import { defineKind } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { createEnvironment } from '@kctl/testing';
import { expect, it } from 'vitest';
import { warnOfStoredObjects } from '../src/deploy/stored-objects.js';

const Website = defineKind()({ group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' });
const definition = (properties: object) => ({
  apiVersion: CustomResourceDefinition.apiVersion,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Website', plural: 'websites', singular: 'website', listKind: 'WebsiteList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
      },
    ],
  },
});

it('names stored objects that a new definition no longer fits, before it is applied', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client } = environment;
  let printed = '';
  const io = { err: (text: string) => void (printed += text), signal: new AbortController().signal };
  const warn = async (properties: object): Promise<string> => {
    printed = '';
    await warnOfStoredObjects(io, { client }, [definition(properties)]);
    return printed;
  };
  expect(await warn({})).toBe('');
  await environment.installCrds([definition({ html: { type: 'string' } }) as never]);
  for (const name of ['a', 'b', 'c', 'd'])
    await client.create(Website, { metadata: { namespace: 'default', name }, spec: { html: 'x' } });
  expect(await warn({ html: { type: 'string' }, title: { type: 'string' } })).toBe('');
  expect(await warn({ title: { type: 'string' } })).toMatch(
    /^Warning: the change of websites\.example\.com is \w+ for stored objects: default\/a: loses spec\.html; default\/b: .*; 1 more\n$/,
  );
  expect(await warn({ html: { type: 'string', minLength: 5 } })).toContain('default/a: spec.html');
});
