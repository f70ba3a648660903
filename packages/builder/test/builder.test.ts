import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { generationChanged } from '@kctl/controller';
import { createManager } from '@kctl/manager';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { controllerManagedBy, isDefinitionError } from '../src/index.js';
import { FakeCache, fakeCluster } from './fakes.js';

const App = defineKind({ group: 'example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    if (isDefinitionError(error)) return error.problems;
    throw error;
  }
  return [];
}

describe('ControllerBuilder', () => {
  it('runs a controller that reconciles objects and the owners of their dependents', async () => {
    const cache = new FakeCache();
    const manager = createManager({ cluster: fakeCluster(cache), clock: new FakeClock() });
    const seen: string[] = [];
    controllerManagedBy(manager)
      .for(App, { predicates: [generationChanged] })
      .owns(Pod, { onlyMetadata: true })
      .complete(async ({ namespace, name }) => {
        seen.push(`${namespace}/${name}`);
      });
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    cache.add(App, { metadata: { namespace: 'a', name: 'one' } });
    const ownerReferences = [
      { apiVersion: 'example.com/v2', kind: 'App', name: 'two', uid: '2', controller: true },
      { apiVersion: 'example.com/v1', kind: 'App', name: 'three', uid: '3' },
    ];
    const pod: KubeObject = { metadata: { namespace: 'a', name: 'p', ownerReferences } };
    cache.add({ ...Pod, shape: 'metadata' }, pod);
    await settle();
    expect(seen).toEqual(['a/one', 'a/two']);
    stop.abort();
    await done;
    expect(cache.log).toEqual(['cache runs', 'cache synced', 'cache ends']);
  });

  it('reports all mistakes of a definition at once and adds nothing', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const problems = problemsOf(() =>
      controllerManagedBy(manager)
        .for(App)
        .for(Pod)
        .owns(Node)
        .owns(Node)
        .withOptions({ maxConcurrentReconciles: -1 })
        .complete(undefined as never),
    );
    expect(problems).toMatchInlineSnapshot(`
      [
        "for(...) should only be called once, could not assign multiple objects for reconciliation: App.example.com, Pod",
        "owns(Node): a cluster-scoped object cannot be owned by a namespaced one (App.example.com); use watches() with a map function",
        "owns(Node): a cluster-scoped object cannot be owned by a namespaced one (App.example.com); use watches() with a map function",
        "owns(Node) is there twice",
        "must provide a non-nil Reconciler: a function or { reconcile }",
        "controller "app": maxConcurrentReconciles -1 is not valid: expected an integer ≥ 0",
      ]
    `);
    expect(() =>
      controllerManagedBy(manager)
        .for(App)
        .complete(async () => undefined),
    ).not.toThrow();
  });

  it('asks for a name where there is no kind, and for something to watch', () => {
    const manager = createManager({ cluster: fakeCluster() });
    expect(problemsOf(() => controllerManagedBy(manager).complete(async () => undefined))).toMatchInlineSnapshot(`
      [
        "using named() is required when for() is not used",
        "there are no watches configured, controller will never get triggered. Use for(), owns(), watches() or watchesRawSource() to set them up",
      ]
    `);
  });

  it('refuses a second controller of one name', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const define = () =>
      controllerManagedBy(manager)
        .for(App)
        .complete(async () => undefined);
    define();
    expect(problemsOf(define)).toEqual([expect.stringContaining('controller with name app already exists')]);
  });
});
