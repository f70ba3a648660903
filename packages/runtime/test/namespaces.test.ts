import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { controllerManagedBy, createManager } from '../src/index.js';

describe('createManager({ namespaces })', () => {
  it('follows namespaces by pattern and label while it runs, with the state of each object', async () => {
    await using environment = await createEnvironment();
    const { client, connection } = environment;
    const make = async (name: string, labels: Record<string, string> = {}): Promise<void> => {
      await client.create(Namespace, { metadata: { name, labels } });
      await client.create(ConfigMap, { metadata: { namespace: name, name: 'settings' } });
    };
    await make('team-red', { watched: 'yes' });
    await make('team-blue');
    await make('other', { watched: 'yes' });
    const manager = await createManager({
      connection,
      namespaces: { names: ['team-*'], labelSelector: 'watched=yes' },
    });
    const seen: string[] = [];
    const counts = new Map<string, number>();
    controllerManagedBy(manager)
      .for(ConfigMap)
      .reconcile(async ({ metadata: { namespace, name } }, { memo }) => {
        if (name !== 'settings') return;
        const state = memo(() => ({ runs: 0 }));
        counts.set(namespace, ++state.runs);
        seen.push(namespace);
      });
    expect(manager.accessNeeds()).toContainEqual(
      expect.objectContaining({ resource: 'namespaces', verbs: ['list', 'watch'], reason: 'namespaces of the cache' }),
    );
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await eventually(() => {
      expect(seen).toContain('team-red');
    });
    await make('team-green', { watched: 'yes' });
    await eventually(() => {
      expect(new Set(seen)).toEqual(new Set(['team-red', 'team-green']));
    });
    await client.update(ConfigMap, {
      metadata: { namespace: 'team-red', name: 'settings' },
      data: { colour: 'red' },
    });
    await eventually(() => {
      expect(counts.get('team-red')).toBe(2);
    });
    // Another object of the name has a state of its own.
    await client.delete(ConfigMap, { namespace: 'team-red', name: 'settings' });
    await eventually(async () => {
      await expect(manager.client.get(ConfigMap, { namespace: 'team-red', name: 'settings' })).rejects.toThrow();
    });
    await client.create(ConfigMap, { metadata: { namespace: 'team-red', name: 'settings' } });
    await eventually(() => {
      expect(counts.get('team-red')).toBe(1);
    });
    stop.abort();
    await running;
    await expect(
      createManager({ connection, namespaces: ['a'], cache: { defaultNamespaces: { b: {} } } }),
    ).rejects.toThrow('give namespaces or cache.defaultNamespaces, not both');
  });
});
