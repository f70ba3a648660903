// The same operator of single packages: a client, two informers, a work queue. No manager, no cache, no controller.
import { controllerOf, formatKey, keyOf, parseKey } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createOrUpdate } from '@kctl/client';
import { createHttpClient, loadConnection } from '@kctl/client-http';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { createRateLimitingQueue } from '@kctl/workqueue';
import { Greeting, shapeText } from './greeting.js';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
const { signal } = stop;

await using client = createHttpClient({ connection: await loadConnection() });
const queue = createRateLimitingQueue();

// 1. Sources and handlers: a Greeting enqueues its own key, a ConfigMap that of the Greeting that controls it.
const greetings = createSharedInformer({ kind: Greeting, listerWatcher: listerWatcherFor(client, Greeting) });
const texts = createSharedInformer({ kind: ConfigMap, listerWatcher: listerWatcherFor(client, ConfigMap) });
greetings.addEventHandler({ onEvent: ({ key }) => queue.add(key) });
texts.addEventHandler({
  onEvent: (event) => {
    const owner = controllerOf(event.object);
    const { namespace } = keyOf(event.object);
    if (owner?.kind === Greeting.kind && namespace !== undefined) queue.add(formatKey({ namespace, name: owner.name }));
  },
});
const running = Promise.all([greetings.run(signal), texts.run(signal)]);
await Promise.all([greetings.waitForSync({ signal }), texts.waitForSync({ signal })]);

const pool = queue.run({ concurrency: 1, signal }, async (item) => {
  const { namespace = '', name } = parseKey(item);
  const greeting = greetings.lister.namespace(namespace).get(name); // 2. read from the store
  if (greeting === undefined) return;
  const { result } = await createOrUpdate(
    client,
    ConfigMap,
    { namespace, name },
    {
      signal,
      mutate: (draft) => shapeText(greeting, draft), // 3. write what differs
    },
  );
  if (result !== 'unchanged') console.log(`${name}: ${result}`);
});
await Promise.all([running, pool.ended]); // 4. started above in order; the signal stops all of it
