import type { UntypedObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { createRegistry } from './create-registry.js';
import { crdFinalizer } from '../registry/crd-finalizer.js';
import { createCrdController } from './crd-controller.js';
import { crdCondition } from '@kctl/crd/internal/engine';

/** A store of CRDs that calls the controller back on every write, as the server does. */
class Store {
  readonly crds = new Map<string, UntypedObject>();
  readonly instances = new Map<string, string[]>();
  readonly registry = createRegistry();
  writes = 0;
  readonly controller = createCrdController({
    registry: this.registry,
    now: () => '2026-11-21T00:50:17Z',
    backend: {
      get: (name) => this.crds.get(name),
      list: () => this.crds.values(),
      update: (name, mutate) => {
        const present = this.crds.get(name);
        if (present === undefined) return;
        const next = mutate(present);
        if (next !== present) this.write(next);
      },
      deleteInstances: (key) => {
        const held = (this.instances.get(key) ?? []).filter((name) => name.startsWith('held'));
        this.instances.set(key, held);
      },
      countInstances: (key) => this.instances.get(key)?.length ?? 0,
    },
  });

  write(crd: UntypedObject): void {
    this.writes += 1;
    if (this.writes > 100) throw new Error('the controller does not settle');
    const name = crd.metadata.name ?? '';
    const isGone = crd.metadata.deletionTimestamp !== undefined && (crd.metadata.finalizers ?? []).length === 0;
    if (isGone) this.crds.delete(name);
    else this.crds.set(name, crd);
    this.controller.sync(name);
  }

  read(name: string): UntypedObject {
    const crd = this.crds.get(name);
    if (crd === undefined) throw new Error(`${name} is gone`);
    return crd;
  }

  remove(name: string): void {
    const crd = this.read(name);
    this.write({ ...crd, metadata: { ...crd.metadata, deletionTimestamp: '2026-11-21T00:50:43Z' } });
  }
}

function crd(plural: string, kind: string, shortNames: string[] = []): UntypedObject {
  return {
    metadata: { name: `${plural}.ex.io` },
    spec: {
      group: 'ex.io',
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
}

describe('CrdController §2.10-61, §2.10-65', () => {
  it('accepts names, establishes and serves in the turn of the write', () => {
    const store = new Store();
    store.write(crd('widgets', 'Widget', ['wd']));
    const settled = store.read('widgets.ex.io');
    expect(settled['status']).toEqual({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: '2026-11-21T00:50:17Z',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: '2026-11-21T00:50:17Z',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        listKind: 'WidgetList',
        shortNames: ['wd'],
      },
    });
    expect(settled.metadata.finalizers).toEqual([crdFinalizer]);
    expect(store.registry.find('ex.io', 'v1', 'widgets')?.shortNames).toEqual(['wd']);
    expect(store.writes).toBe(2);
  });
  it('does not register anew what has not changed', () => {
    const store = new Store();
    store.write(crd('widgets', 'Widget'));
    const { revision } = store.registry;
    store.write({ ...store.read('widgets.ex.io') });
    expect(store.registry.revision).toBe(revision);
  });
  it('refuses a kind that another CRD of the group has, until it is free', () => {
    const store = new Store();
    store.write(crd('widgets', 'Widget'));
    store.write(crd('gadgets', 'Widget'));
    const waiting = store.read('gadgets.ex.io');
    expect(crdCondition(waiting, 'NamesAccepted')).toMatchObject({
      status: 'False',
      reason: 'ListKindConflict',
      message: '"WidgetList" is already in use',
    });
    expect(crdCondition(waiting, 'Established')).toMatchObject({ status: 'False', reason: 'NotAccepted' });
    expect(store.registry.find('ex.io', 'v1', 'gadgets')).toBeUndefined();
    store.remove('widgets.ex.io');
    expect(store.registry.find('ex.io', 'v1', 'gadgets')?.kind).toBe('Widget');
  });
  it('deletes the instances, then itself, then its paths', () => {
    const store = new Store();
    store.write(crd('widgets', 'Widget'));
    store.instances.set('ex.io/widgets', ['a', 'b']);
    store.remove('widgets.ex.io');
    expect([store.crds.size, store.instances.get('ex.io/widgets'), store.registry.list()]).toEqual([0, [], []]);
  });
  it('waits for instances with finalizers, without writing in a circle', () => {
    const store = new Store();
    store.write(crd('widgets', 'Widget'));
    store.instances.set('ex.io/widgets', ['held', 'free']);
    store.remove('widgets.ex.io');
    expect(crdCondition(store.read('widgets.ex.io'), 'Terminating')).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionInProgress',
    });
    expect(store.registry.find('ex.io', 'v1', 'widgets')).toBeDefined();
    store.instances.set('ex.io/widgets', []);
    store.controller.instanceRemoved('ex.io/widgets');
    expect([store.crds.size, store.registry.list()]).toEqual([0, []]);
  });
});
