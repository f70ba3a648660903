import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { enqueueRequestForObject, objectPredicate, type ReconcileRequest } from '@kctl/controller';
import { createCluster, createManager } from '@kctl/manager';
import { settle } from '@kctl/wait/testing';
import type { Client } from '@kctl/client';
import { describe, expect, it } from 'vitest';
import { controllerManagedBy } from '../src/index.js';
import { FakeCache } from './fakes.js';

const child = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    namespace: 'shop',
    name,
    labels,
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', controller: true }],
  },
});

/** A manager whose client knows, as that of @kctl/client-delegating does, what of its own ended unseen. */
function setUp() {
  const ends = new FakeCache();
  const asked: string[] = [];
  const vanished = (kind: typeof Secret): unknown => {
    asked.push(kind.kind);
    const handlers = ends.of(kind);
    return {
      addEventHandler: (handler: never) => {
        handlers.add(handler);
        return { hasSynced: true, waitForSync: () => Promise.resolve(), remove: () => void handlers.delete(handler) };
      },
    };
  };
  const client = { vanished } as unknown as Client;
  const cache = new FakeCache();
  const manager = createManager({ cluster: createCluster({ client, apiReader: client, cache }) });
  const stop = new AbortController();
  return { ends, asked, cache, manager, stop };
}

describe('owns', () => {
  it('reconciles the owner of an object that this process made and that ended before its informer had it', async () => {
    const { ends, asked, manager, stop } = setUp();
    const runs: [ReconcileRequest, readonly string[]][] = [];
    controllerManagedBy(manager)
      .for(ConfigMap)
      .owns(Secret, { predicates: [objectPredicate(({ metadata }) => metadata.labels?.['ours'] === 'yes')] })
      .complete(async (request, { reasons }) => {
        runs.push([request, reasons]);
        await Promise.resolve();
      });
    expect(asked).toEqual(['Secret']);
    const done = manager.run(stop.signal);
    await settle();
    ends.add(Secret, child('a', { ours: 'yes' }));
    ends.add(Secret, child('b'));
    await settle();
    expect(runs).toEqual([[{ namespace: 'shop', name: 'owner' }, ['kind source: Secret create shop/a']]]);
    stop.abort();
    await done;
    expect(ends.of(Secret).size).toBe(0);
  });

  it('asks for nothing of the kind of for, and of kinds that are watched', async () => {
    const { asked, manager } = setUp();
    controllerManagedBy(manager)
      .for(ConfigMap)
      .watches(Secret, enqueueRequestForObject())
      .complete(() => Promise.resolve());
    expect(asked).toEqual([]);
  });
});
