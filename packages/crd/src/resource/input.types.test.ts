// What a caller may leave out when an object is made, and what is there when it is read.
import type { DeepReadonly, InputOf, Kind, ObjectOf, PersistedObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineResource } from './define-resource.js';

const Website = defineResource({
  group: 'example.com',
  kind: 'Website',
  versions: {
    v1: {
      spec: z.object({
        host: z.string(),
        replicas: z.int().default(1),
        tls: z.object({ mode: z.enum(['off', 'on']).default('on') }).default({ mode: 'on' }),
      }),
    },
  },
});
const Plain = defineKind<ObjectOf<typeof Website>>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
});

/** The `create` of a client: the object as it goes to the server. */
const create = <K extends Kind>(_kind: K, object: InputOf<K>): unknown => object;
const metadata = { namespace: 'shop', name: 'web' };

it('lets fields with a default be left out of an object that is made', () => {
  expect(create(Website, { metadata, spec: { host: 'shop.example.com' } })).toEqual({
    metadata,
    spec: { host: 'shop.example.com' },
  });
  create(Website, { metadata, spec: { host: 'a', replicas: 2, tls: {} } });
  // @ts-expect-error: what has no default is required
  create(Website, { metadata, spec: { replicas: 2 } });
  // @ts-expect-error: of another type
  create(Website, { metadata, spec: { host: 'a', replicas: 'two' } });
  // @ts-expect-error: there is no such field
  create(Website, { metadata, spec: { host: 'a', size: 2 } });
});

it('takes an object that was read or made by the resource, too', () => {
  const made = Website.create({ metadata, spec: { host: 'a' } });
  create(Website, made);
  create(Website, made as DeepReadonly<PersistedObject<typeof Website>>);
  expect(made.spec).toEqual({ host: 'a', replicas: 1, tls: { mode: 'on' } });
});

it('has every field with a default in what is read', () => {
  expectTypeOf<ObjectOf<typeof Website>['spec']['replicas']>().toEqualTypeOf<number>();
  expectTypeOf<PersistedObject<typeof Website>['spec']['tls']['mode']>().toEqualTypeOf<'off' | 'on'>();
});

it('leaves other kinds as they are', () => {
  expectTypeOf<InputOf<typeof Plain>>().toEqualTypeOf<DeepReadonly<ObjectOf<typeof Plain>>>();
  // @ts-expect-error: a kind without a schema has no defaults
  create(Plain, { metadata, spec: { host: 'a' } });
  const kind: Kind = Website;
  expect(kind.kind).toBe('Website');
});
