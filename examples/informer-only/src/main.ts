// A live, local copy of all ConfigMaps: listed once, then kept current by a watch that survives whatever happens to it.
// Reading from the copy costs no request.
import { formatKey, keyOf } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, loadConnection } from '@kctl/client-http';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

try {
  await using client = createHttpClient({ connection: await loadConnection() });
  const informer = createSharedInformer({ kind: ConfigMap, listerWatcher: listerWatcherFor(client, ConfigMap) });

  informer.addEventHandler({
    onAdd: (configMap, { isInInitialList }) =>
      console.log(`${isInInitialList ? 'found' : 'added'} ${formatKey(keyOf(configMap))}`),
    onUpdate: (_old, configMap) =>
      console.log(`updated ${formatKey(keyOf(configMap))}: ${JSON.stringify(configMap.data ?? {})}`),
    onDelete: (configMap) => console.log(`deleted ${formatKey(keyOf(configMap))}`),
  });

  const running = informer.run(stop.signal);
  await informer.waitForSync({ timeoutMs: 30_000, signal: stop.signal });
  console.log(
    `in sync: ${informer.lister.list().length} ConfigMaps, ${informer.lister.namespace('default').list().length} of them in default`,
  );
  await running;
  console.log('stopped');
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
