import { requireOptionsObject } from '@kctl/client/internal';
import type { GroupVersionKind } from '@kctl/apimachinery';
import type { Client, KindResolver, Reader } from '@kctl/client';
import type { InformerProvider } from '@kctl/controller';
import type { AccessNeed } from '@kctl/rbac';
import { functionOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import type { Runnable } from './runnable.js';

/** The state of one informer, as far as health needs it; an `InformerStatus` of @kctl/cache is one. */
export interface InformerReport {
  readonly kind: GroupVersionKind;
  /** Its name if a kind has several. @default the one of its kind */
  readonly selection?: string;
  /** `watching` is the healthy one. `since`: when it began, monotonic time in ms. */
  readonly state: { readonly phase: string; readonly since?: number };
  /** Whether it has ever synced. @default true */
  readonly hasSynced?: boolean;
  /** False for one that runs on only for a while after its last user. @default true */
  readonly isWanted?: boolean;
  /** Why it is not watching. */
  readonly trouble?: { readonly reason: string; readonly message: string; readonly error?: unknown } | undefined;
  /** How many objects it holds, and how many bytes of those that came as bytes. @default not known */
  readonly objects?: number;
  readonly bytes?: number;
  /** The names of its indexes. @default not known */
  readonly indexes?: readonly string[];
}

/** Requirements of the manager on a cache; that of @kctl/cache meets them. */
export interface ManagedCache extends InformerProvider, Reader {
  /** Runs informers until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the informers that exist by now have synced. */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  /** For the readiness check `informers`. @default they count as healthy */
  informers?(): Iterable<InformerReport>;
  /** The namespaces that an informer of a kind watches; undefined means all of them. @default all */
  namespacesFor?(kind: GroupVersionKind): readonly string[] | undefined;
}

/** Requirements of the manager on an event recorder's owner. It ends after everything that may record. */
export interface EventSink {
  /** Delivers events until the signal is aborted and what was recorded before is delivered. */
  run(signal: AbortSignal): Promise<void>;
  /** The rights that it needs. @default none */
  accessNeeds?(): readonly AccessNeed[];
}

/** The parts of a cluster. */
export interface ClusterParts<Events extends EventSink = EventSink> {
  /** For logs and health checks; unique in a manager. @default 'cluster' */
  readonly name?: string;
  /** Reads from the cache if possible, writes to the server. */
  readonly client: Client;
  /** Reads from the server. */
  readonly apiReader: Reader;
  readonly cache: ManagedCache;
  /** Kinds that are known only by name. */
  readonly mapper?: KindResolver;
  readonly events?: Events;
}

/** Makes the parts of a cluster one after another, each from those before it; any may be replaced. */
export interface ClusterFactories<Live extends Client, Cache extends ManagedCache> {
  /** The client that talks to the server. */
  readonly newLiveClient: () => Live;
  /** Mirrors `Options.NewCache`. */
  readonly newCache: (live: Live) => Cache;
  /** Mirrors `Options.NewClient`: gets the cache that it may read from. */
  readonly newClient: (parts: { readonly live: Live; readonly cache: Cache }) => Client;
  readonly newEvents?: (parts: { readonly live: Live }) => EventSink;
  readonly mapper?: KindResolver;
  readonly name?: string;
}

/**
 * Everything about talking to one API server. A runnable of group `caches`: `manager.add(otherCluster)` runs a further
 * one, and delivers its events. Mirrors `cluster.Cluster`.
 */
export interface Cluster extends Runnable {
  readonly name: string;
  readonly group: 'caches';
  readonly client: Client;
  readonly apiReader: Reader;
  readonly cache: ManagedCache;
  readonly mapper: KindResolver | undefined;
  readonly events: EventSink | undefined;
  /** Whether the cache runs and has synced. */
  readonly hasSynced: boolean;
  waitForReady(signal: AbortSignal): Promise<void>;
}

const partNames: OptionNames<ClusterParts> = {
  name: textOption,
  client: true,
  apiReader: true,
  cache: true,
  mapper: true,
  events: true,
};
const factoryNames: OptionNames<ClusterFactories<Client, ManagedCache>> = {
  newLiveClient: true,
  newCache: true,
  newClient: true,
  newEvents: functionOption,
  mapper: true,
  name: textOption,
};

/** Puts a cluster together; it starts nothing. */
export function createCluster<Live extends Client, Cache extends ManagedCache>(
  options: ClusterParts | ClusterFactories<Live, Cache>,
): Cluster {
  requireOptionsObject('createCluster', options, 'its parts, or newLiveClient, newCache and newClient');
  if ('client' in options) requireOptions('createCluster', options, partNames);
  else requireOptions('createCluster', options, factoryNames);
  const {
    name = 'cluster',
    client,
    apiReader,
    cache,
    mapper,
    events,
  } = 'client' in options ? options : makeParts(options);
  let hasSynced = false;
  return {
    name,
    group: 'caches',
    get hasSynced() {
      return hasSynced;
    },
    client,
    apiReader,
    cache,
    mapper,
    events,
    run: async (signal) => {
      try {
        await cache.run(signal);
      } finally {
        hasSynced = false;
      }
    },
    waitForReady: async (signal) => {
      await cache.waitForSync({ signal });
      hasSynced = true;
    },
  };
}

function makeParts<Live extends Client, Cache extends ManagedCache>(
  factories: ClusterFactories<Live, Cache>,
): ClusterParts {
  for (const name of ['newLiveClient', 'newCache', 'newClient'] as const)
    if (typeof factories[name] !== 'function')
      throw new TypeError(
        `createCluster: ${name} is ${typeof factories[name]}: expected a function, or the parts: client, apiReader and cache`,
      );
  const live = factories.newLiveClient();
  const cache = factories.newCache(live);
  const events = factories.newEvents?.({ live });
  return {
    client: factories.newClient({ live, cache }),
    apiReader: live,
    cache,
    ...(factories.name === undefined ? {} : { name: factories.name }),
    ...(factories.mapper === undefined ? {} : { mapper: factories.mapper }),
    ...(events === undefined ? {} : { events }),
  };
}
