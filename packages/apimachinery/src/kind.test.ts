import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  defineKind,
  formatApiVersion,
  formatGroupKind,
  formatGroupResource,
  formatGroupVersionKind,
  isSameKind,
  metadataOnly,
  parseApiVersion,
  stripped,
  untyped,
} from './kind.js';
import type { Kind } from './kind.js';
import type { KubeObject } from './object.js';

interface Foo extends KubeObject {
  spec?: { size: number };
}
const Foo = defineKind<Foo>()({ group: 'example.com', version: 'v1', kind: 'Foo', scope: 'Namespaced' });

it('makes tokens that stay as they are, in every shape', () => {
  for (const kind of [Foo, metadataOnly(Foo), stripped(Foo), untyped(Foo)]) expect(Object.isFrozen(kind)).toBe(true);
});

describe('defineKind', () => {
  it('makes a token that says all about a kind', () => {
    expect(Foo).toEqual({
      group: 'example.com',
      version: 'v1',
      kind: 'Foo',
      plural: 'foos',
      scope: 'Namespaced',
      shape: 'full',
      apiVersion: 'example.com/v1',
    });
    expectTypeOf(Foo).toEqualTypeOf<Kind<Foo, 'Namespaced'>>();
  });

  it.each([
    ['Policy', 'policies'],
    ['Ingress', 'ingresses'],
    ['Endpoints', 'endpoints'],
    ['Website', 'websites'],
  ])('guesses the plural of %s as Go does: %s', (kind, plural) => {
    expect(defineKind({ group: '', version: 'v1', kind, scope: 'Cluster' }).plural).toBe(plural);
    expect(defineKind({ group: '', version: 'v1', kind, plural: 'others', scope: 'Cluster' }).plural).toBe('others');
  });

  it.each(['foo', 'fooBar', 'Foo-Bar', 'foo-bar', 'f', 'F1', 'HTTPRoute', 'F'.repeat(63)])(
    'accepts the kind %s, as the API server does',
    (kind) => {
      expect(defineKind({ group: '', version: 'v1', kind, plural: 'foos', scope: 'Cluster' }).kind).toBe(kind);
    },
  );

  it.each(['f', 'foo-s', 'foo1', 'fo--os', 'f'.repeat(63)])(
    'accepts the plural %s, as the API server does',
    (plural) => {
      expect(defineKind({ group: '', version: 'v1', kind: 'Foo', plural, scope: 'Cluster' }).plural).toBe(plural);
    },
  );

  it.each([
    [{ group: 'Example.com' }, 'group "Example.com"'],
    [{ version: 'V1' }, 'version "V1"'],
    [{ kind: '1Foo' }, 'kind "1Foo"'],
    [{ kind: 'Foo_x' }, 'kind "Foo_x"'],
    [{ kind: 'Foo-' }, 'kind "Foo-"'],
    [{ kind: 'F'.repeat(64) }, 'kind "FFF'],
    [{ plural: '1foos' }, 'plural "1foos"'],
    [{ plural: 'f'.repeat(64) }, 'plural "fff'],
    [{ version: '1v' }, 'version "1v"'],
    [{ group: `${'a.'.repeat(126)}co` }, 'group "a.a.'],
    [{ plural: 'Foos' }, 'plural "Foos"'],
    [{ group: undefined }, "group undefined is not valid: expected '' or a DNS subdomain"],
    [{ version: undefined }, 'version undefined is not valid: expected a DNS label'],
    [{ kind: undefined }, 'kind undefined is not valid: expected a letter'],
    [{ scope: undefined }, 'scope undefined is not valid: expected Namespaced or Cluster'],
    [{ scope: 'namespaced' }, 'scope "namespaced" is not valid'],
  ])('refuses %o', (change, message) => {
    const options = { group: 'example.com', version: 'v1', kind: 'Foo', scope: 'Cluster', ...change };
    expect(() => defineKind(options as Parameters<typeof defineKind>[0] & object)).toThrow(message);
  });
});

describe('forms of a kind', () => {
  it.each([untyped, metadataOnly, stripped])('refuses a bare group, version and kind in $name', (shape) => {
    expect(() => shape({ group: 'apps', version: 'v1', kind: 'Deployment' } as never)).toThrow(
      'apps/v1, Kind=Deployment has no plural and scope: pass a kind of @kctl/apimachinery/kinds, or defineKind()',
    );
  });

  it('are the same kind in another shape', () => {
    expect([metadataOnly(Foo).shape, untyped(Foo).shape]).toEqual(['metadata', 'untyped']);
    expect(isSameKind(metadataOnly(Foo), Foo)).toBe(true);
    expect(isSameKind(Foo, { ...Foo, version: 'v2' })).toBe(false);
    expectTypeOf(untyped(Foo).scope).toEqualTypeOf<'Namespaced'>();
  });
});

describe('names of kinds', () => {
  const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });

  it('are printed as Go prints them', () => {
    expect([formatGroupKind(Foo), formatGroupKind(Pod)]).toEqual(['Foo.example.com', 'Pod']);
    expect([formatGroupVersionKind(Foo), formatGroupVersionKind(Pod)]).toEqual([
      'example.com/v1, Kind=Foo',
      'v1, Kind=Pod',
    ]);
    expect([formatGroupResource(Foo), formatGroupResource(Pod)]).toEqual(['foos.example.com', 'pods']);
    expect(formatGroupResource({ group: 'apps', resource: 'deployments' })).toBe('deployments.apps');
  });

  it.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
  ])('%s is taken apart and put together', (apiVersion, parts) => {
    expect(parseApiVersion(apiVersion)).toEqual(parts);
    expect(formatApiVersion(parts.group, parts.version)).toBe(apiVersion);
  });
});
