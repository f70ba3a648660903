// The classic informer by hand: reflector → DeltaFIFO → indexer → handlers. A shared informer runs beside it, and both
// hold the same in the end.
import type { DeepReadonly, Persisted } from '@kctl/apimachinery';
import { formatKey, keyOf, parseKey } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createIndexer, labelIndex } from '@kctl/cache-index';
import { createHttpClient, loadConnection } from '@kctl/client-http';
import { createDeltaController, createDeltaFifo, createSharedInformer, listerWatcherFor } from '@kctl/informer';

type Stored = DeepReadonly<ConfigMap & Persisted<'Namespaced'>>;

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

// The indexer: what is known of the cluster, with an index that reads cost nothing of.
const indexer = createIndexer<ConfigMap & Persisted<'Namespaced'>>({
  indexers: { team: labelIndex('team') },
});

// The handlers: called after the indexer has changed.
const handlers = [
  (type: string, key: string, object: Stored | undefined): void =>
    console.log(`${type} ${key}${type === 'deleted' ? '' : ` ${JSON.stringify(object?.data ?? {})}`}`),
];

// The DeltaFIFO: what happened, grouped by object. A relist is compared with what the indexer holds.
const queue = createDeltaFifo<Stored>({
  knownObjects: {
    keys: () => [...indexer.values()].map(formatKey),
    get: (key) => indexer.get(parseKey(key)),
  },
});

try {
  await using client = createHttpClient({ connection: await loadConnection() });
  const listerWatcher = listerWatcherFor(client, ConfigMap);

  // The controller: a reflector that feeds the queue, and a loop that applies what comes out of it.
  const controller = createDeltaController({
    kind: ConfigMap,
    listerWatcher,
    queue,
    onProcessError: (error) => console.error('processing deltas failed', error),
    process: (deltas, { isInInitialList }) => {
      for (const { type, key, object } of deltas) {
        const before = indexer.get(parseKey(key));
        if (type === 'Deleted') indexer.delete(parseKey(key));
        else indexer.put(object);
        const change =
          type === 'Deleted' ? 'deleted' : before !== undefined ? 'updated' : isInInitialList ? 'found' : 'added';
        for (const handler of handlers) handler(change, key, object);
      }
    },
  });
  const shared = createSharedInformer({ kind: ConfigMap, listerWatcher });

  const running = Promise.all([controller.run(stop.signal), shared.run(stop.signal)]);
  await shared.waitForSync({ timeoutMs: 30_000, signal: stop.signal });
  while (!controller.hasSynced) await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(`in sync: ${indexer.size} ConfigMaps`);
  await running;

  const versions = (objects: readonly Stored[]): string =>
    objects.map((object) => `${formatKey(keyOf(object))}@${object.metadata.resourceVersion}`).join();
  const isEqual = versions(indexer.list()) === versions(shared.indexer.list());
  console.log(isEqual ? 'stopped; equal to the shared informer' : 'stopped; NOT equal to the shared informer');
  process.exitCode = isEqual ? 0 : 1;
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
