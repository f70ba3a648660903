import { once } from 'node:events';
import { defineKind } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { createEnvironment, installCrds } from '@kctl/testing';
import { expect, it } from 'vitest';
import { lostFieldsWarning } from '../src/lost-fields.js';

const version = (name: string, field: string, type: string): object => ({
  name,
  served: true,
  storage: name === 'v2',
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            [field]: { type },
            ports: { type: 'array', items: { type: 'object', properties: { [`${field}Port`]: { type } } } },
          },
        },
      },
    },
  },
});
const manifest = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Website', plural: 'websites' },
    versions: [version('v1', 'html', 'string'), version('v2', 'page', 'string')],
  },
} as CustomResourceDefinition;
/** As `defineResource` returns it. */
const Website = {
  ...defineKind()({ group: 'example.com', version: 'v2', kind: 'Website', scope: 'Namespaced' }),
  manifest,
};

it('warns of versions that lose fields of one another without a conversion webhook', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const install = [
    () => createEnvironment({ server: 'embedded', crds: [JSON.stringify(manifest)] }),
    () => environment.installCrds([manifest]),
    () => installCrds(environment.client, Website),
  ];
  for (const each of install) {
    const warned = once(process, 'warning');
    const made = await each();
    if (made !== undefined) await made.stop();
    expect((await warned)[0]).toMatchObject({
      code: 'KCTL_LOST_FIELDS',
      message:
        'CustomResourceDefinition websites.example.com has no conversion webhook: an object of v1 loses spec.html, spec.ports[].htmlPort in v2: serve a converter and install the definition by installConversion',
    });
  }
});

it('installs the conversion of a resource that does not set it', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { port } = await environment.prepareWebhooks();
  await environment.installConversion([Website]);
  const { spec } = await environment.client.get(CustomResourceDefinition, { name: 'websites.example.com' });
  expect(spec.conversion?.webhook?.clientConfig?.url).toBe(`https://127.0.0.1:${port}/convert`);
});

it('does not warn if nothing is lost', () => {
  const definition = (one: object, two: object, conversion?: 'Webhook' | 'None') =>
    lostFieldsWarning({
      metadata: { name: 'a' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'A', plural: 'as' },
        versions: [one, two].map((openAPIV3Schema, index) => ({
          name: `v${index + 1}`,
          served: true,
          storage: index === 0,
          schema: { openAPIV3Schema },
        })),
        ...(conversion === undefined ? {} : { conversion: { strategy: conversion } }),
      },
    });
  const a = { type: 'object', properties: { a: { type: 'string' } } };
  const b = { type: 'object', properties: { b: { type: 'string' } } };
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const map = { type: 'object', additionalProperties: { type: 'string' } };
  expect([definition(a, a), definition(any, any), definition(a, b, 'Webhook'), definition(a, map, 'None')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(definition(a, b, 'None')).toContain('an object of v1 loses a in v2');
  expect(definition(any, a)).toBeUndefined();
});
