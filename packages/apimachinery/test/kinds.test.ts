import { readdirSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { Namespace, Pod } from '@kctl/apimachinery/kinds/core/v1';
import type { Container, ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ClusterRole } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { formatGroupVersionKind } from '../src/index.js';
import type { metadataOnly } from '../src/index.js';
import type { IntOrString, Kind, KeyOf, ObjectOf, Quantity } from '../src/index.js';

type HttpGetAction = NonNullable<NonNullable<Container['livenessProbe']>['httpGet']>;

const isKind = (value: unknown): value is Kind => typeof value === 'object' && value !== null && 'plural' in value;

async function allKinds(): Promise<[string, string, Kind][]> {
  const found: [string, string, Kind][] = [];
  for (const subpath of Object.keys(manifest.exports).filter((name) => name.startsWith('./kinds/'))) {
    const file = new URL(`../src/kinds/generated/${subpath.slice('./kinds/'.length)}.ts`, import.meta.url);
    const module = (await import(/* @vite-ignore */ file.href)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) if (isKind(value)) found.push([subpath, name, value]);
  }
  return found;
}

describe('built-in kinds', () => {
  it('are named by their kind and live under the subpath of their group and version', async () => {
    const kinds = await allKinds();
    expect(kinds.length).toBeGreaterThan(100);
    for (const [subpath, name, kind] of kinds) {
      expect(name).toBe(kind.kind);
      expect(subpath).toBe(`./kinds/${kind.group === '' ? 'core' : kind.group}/${kind.version}`);
      expect(kind.plural).toMatch(/^[a-z]+$/);
      expect(kind.shape).toBe('full');
    }
  });

  it('have a subpath for every generated module', () => {
    const files = readdirSync(new URL('../src/kinds/generated', import.meta.url), {
      recursive: true,
      encoding: 'utf8',
    });
    const subpaths = files.filter((name) => name.endsWith('.ts')).map((name) => `./kinds/${name.replace(/\.ts$/, '')}`);
    expect(Object.keys(manifest.exports)).toEqual(expect.arrayContaining(subpaths));
  });

  it('are listed by name in their stable versions, newest first, as those who map names need them', async () => {
    const names = builtInKinds.map((kind) => formatGroupVersionKind(kind));
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(60);
    const tokens = new Map((await allKinds()).map(([, , kind]) => [formatGroupVersionKind(kind), kind]));
    for (const kind of builtInKinds) {
      expect(kind.version).toMatch(/^v\d+$/);
      expect(kind).toEqual(tokens.get(formatGroupVersionKind(kind)));
    }
    const scalers = builtInKinds.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    expect(scalers.map(({ version }) => version)).toEqual(['v2', 'v1']);
  });

  it('know plural and scope', () => {
    expect(Pod).toEqual({
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      scope: 'Namespaced',
      shape: 'full',
      apiVersion: 'v1',
    });
    expect(Lease).toMatchObject({ apiVersion: 'coordination.k8s.io/v1', plural: 'leases' });
    expect([Namespace.scope, ClusterRole.scope, Deployment.scope]).toEqual(['Cluster', 'Cluster', 'Namespaced']);
  });

  it('carry their object type', () => {
    expectTypeOf<ObjectOf<typeof Pod>>().toEqualTypeOf<Pod>();
    expectTypeOf<KeyOf<typeof Pod>>().toEqualTypeOf<{ readonly namespace: string; readonly name: string }>();
    expectTypeOf<KeyOf<typeof Namespace>>().toEqualTypeOf<{ readonly namespace?: string; readonly name: string }>();
    expectTypeOf<ObjectOf<ReturnType<typeof metadataOnly<typeof Pod>>>>().not.toHaveProperty('spec');
  });

  it('say what is required, and write times, quantities and ports as JSON has them', () => {
    type PodSpec = NonNullable<Pod['spec']>;
    expectTypeOf<PodSpec['containers']>().toEqualTypeOf<Container[]>();
    expectTypeOf<PodSpec['nodeName']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<Pod['status']>['startTime']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<NonNullable<Container['resources']>['limits']>>().toEqualTypeOf<
      Record<string, Quantity>
    >();
    expectTypeOf<HttpGetAction['port']>().toEqualTypeOf<IntOrString>();
    expectTypeOf<HttpGetAction['path']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Secret['data']>().toEqualTypeOf<Record<string, string> | undefined>();
    // A Go server writes an empty list here as null.
    expectTypeOf<ClusterRole['rules']>().toExtend<unknown[] | null | undefined>();
  });

  it('refuse the object of another kind', () => {
    expectTypeOf<Secret>().not.toExtend<ConfigMap>();
    expectTypeOf<Deployment>().not.toExtend<Pod>();
    const map: ConfigMap = { metadata: { name: 'a' }, data: { a: 'b' } };
    expect(map.kind).toBeUndefined();
  });
});
