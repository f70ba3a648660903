// What an informer, a cache, a controller or an owner helper hands out is typed as read.
import { keyOf, metadataOnly } from '@kctl/apimachinery';
import type { NamespacedKey } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import type { Cache } from '@kctl/cache';
import type { Client, FrameReader } from '@kctl/client';
import { asReconciler, enqueueRequestsFromMapFunc } from '@kctl/controller';
import { describe, expectTypeOf, it } from 'vitest';
import { controllerManagedBy, createSharedInformer, listerWatcherFor } from '../src/index.js';
import type { RuntimeManager } from '../src/index.js';

declare const client: Client & FrameReader;
declare const cache: Cache;
declare const manager: RuntimeManager;
const key = { namespace: 'ns', name: 'a' };

/** Has `name`, `uid`, `resourceVersion` and `namespace`. */
interface AsRead {
  readonly metadata: NamespacedKey & { readonly uid: string; readonly resourceVersion: string };
}

/** Type-checked, never run. */
const compiled = (_work: () => unknown): void => undefined;

describe('what is handed out', () => {
  it('by an informer has its identity by type: handlers, indexer, lister, index functions, transforms', () => {
    compiled(() => {
      const informer = createSharedInformer({
        kind: Pod,
        listerWatcher: listerWatcherFor(client, Pod),
        indexers: { byUid: (pod) => [pod.metadata.uid] },
        transform: (pod) => {
          expectTypeOf(pod).toExtend<AsRead>();
          return pod;
        },
      });
      informer.addEventHandler({
        onAdd: (pod) => void expectTypeOf(pod).toExtend<AsRead>(),
        onUpdate: (old, pod) => void expectTypeOf([old, pod]).toExtend<readonly AsRead[]>(),
        onDelete: async (pod) => void (await client.delete(Pod, pod)),
      });
      for (const pod of [...informer.indexer.list(), ...informer.lister.namespace('ns').list()])
        expectTypeOf(pod).toExtend<AsRead>();
      const nodes = createSharedInformer({ kind: Node, listerWatcher: listerWatcherFor(client, Node) });
      nodes.addEventHandler({
        onAdd: ({ metadata }) => void expectTypeOf(metadata.namespace).toEqualTypeOf<string | undefined>(),
      });
    });
  });

  it('by a cache has its identity by type', () => {
    compiled(async () => {
      expectTypeOf(await cache.get(Pod, key)).toExtend<AsRead>();
      const { items } = await cache.list(metadataOnly(Pod));
      expectTypeOf(items).toExtend<readonly AsRead[]>();
      for (const item of items) await client.delete(Pod, await cache.get(Pod, item));
      cache.addIndex(Pod, 'uid', (pod) => [pod.metadata.uid]);
      (await cache.informer(Pod)).addEventHandler({ onAdd: (pod) => void expectTypeOf(pod).toExtend<AsRead>() });
    });
  });

  it('by a controller has its identity by type: predicates, handlers, reconcilers of objects', () => {
    compiled(() =>
      controllerManagedBy(manager)
        .for(Deployment)
        .watches(
          Pod,
          enqueueRequestsFromMapFunc((pod) => [keyOf(pod)]),
          {
            predicates: [
              ({ object }) => {
                expectTypeOf(object).toExtend<AsRead>();
                return true;
              },
            ],
          },
        )
        .complete(
          asReconciler({
            client,
            kind: Deployment,
            reconcile: async (deployment) => {
              expectTypeOf(deployment).toExtend<AsRead>();
              await client.delete(Deployment, deployment);
            },
          }),
        ),
    );
  });
});
