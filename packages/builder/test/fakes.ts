import { headerOf } from '@kctl/apimachinery/internal/wire';
import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import type { Client, ReadObject } from '@kctl/client';
import type { EventInformer, InformerEventHandler } from '@kctl/controller';
import type { Cluster, ManagedCache } from '@kctl/manager';
import { createCluster } from '@kctl/manager';

type Handler = InformerEventHandler<DeepReadonly<KubeObject>>;

/** A cache whose informers a test feeds by hand; they have synced from the start. */
export class FakeCache implements ManagedCache {
  readonly handlers: Map<string, Set<Handler>> = new Map<string, Set<Handler>>();
  readonly log: string[] = [];

  async informer<K extends Kind>(kind: K): Promise<EventInformer<ReadObject<K>>> {
    const handlers = this.of(kind);
    return {
      addEventHandler: (handler: unknown) => {
        handlers.add(handler as Handler);
        return {
          hasSynced: true,
          waitForSync: async () => undefined,
          remove: () => void handlers.delete(handler as Handler),
        };
      },
    };
  }

  of(kind: Kind): Set<Handler> {
    const id = `${kind.kind}/${kind.shape}`;
    const handlers = this.handlers.get(id) ?? new Set();
    this.handlers.set(id, handlers);
    return handlers;
  }

  add(kind: Kind, object: KubeObject): void {
    for (const handler of this.of(kind))
      handler.onEvent({
        type: 'add',
        object,
        header: headerOf(object),
        isInInitialList: false,
        finalStateUnknown: false,
      });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.log.push('cache runs');
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    this.log.push('cache ends');
  }

  async waitForSync(): Promise<void> {
    this.log.push('cache synced');
  }

  get(): Promise<never> {
    return Promise.reject(new Error('not in this test'));
  }

  list(): Promise<never> {
    return Promise.reject(new Error('not in this test'));
  }
}

export function fakeCluster(cache: FakeCache = new FakeCache()): Cluster {
  const client = {} as Client;
  return createCluster({ client, apiReader: client, cache });
}
