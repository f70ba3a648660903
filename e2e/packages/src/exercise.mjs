// What every consumer does, whatever runs it: imports every package, runs a queue, and follows ConfigMaps with an informer
// over TLS. CommonJS programs hand in their own `load`. Prints one line for each step.

/**
 * @param {(name: string) => any} load imports or requires a package
 * @param {readonly string[]} names of all entry points
 * @param {{ url: string, certificateAuthority: string, token: string }} server
 * @param {(line: string) => void} print
 */
export async function exercise(load, names, server, print) {
  const failed = [];
  for (const name of names) {
    try {
      await load(name);
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  print(failed.length === 0 ? `imports ${names.length}` : `imports FAILED ${failed.join(' | ')}`);

  const step = async (/** @type {string} */ name, /** @type {() => Promise<string>} */ work) => {
    try {
      print(`${name} ${await work()}`);
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? ` (${String(error.cause)})` : '';
      print(`${name} FAILED ${error instanceof Error ? (error.stack ?? error.message) : String(error)}${cause}`);
    }
  };

  await step('queue', async () => {
    const { createRateLimitingQueue } = await load('@kctl/workqueue');
    const queue = createRateLimitingQueue();
    const seen = new Set();
    let attempts = 0;
    const pool = queue.run({ concurrency: 2 }, async (/** @type {string} */ key) => {
      if (++attempts === 1) throw new Error('the first attempt fails');
      seen.add(key);
      if (seen.size === 2) queue.shutDown();
    });
    for (const key of ['a', 'b', 'a']) queue.add(key);
    await pool.ended;
    if (attempts !== 3) throw new Error(`expected two runs and a retry: ${attempts}`);
    return 'ok';
  });

  await step('informer', async () => {
    const { createHttpClient } = await load('@kctl/client-http');
    const { createSharedInformer, listerWatcherFor } = await load('@kctl/informer');
    const { ConfigMap } = await load('@kctl/apimachinery/kinds/core/v1');
    const client = createHttpClient({
      connection: { server: server.url, ca: server.certificateAuthority, user: { token: server.token } },
      requestTimeoutMs: 10_000,
    });
    const name = `consumer-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
    await client.create(ConfigMap, { metadata: { namespace: 'default', name }, data: { step: '1' } });
    const stop = new AbortController();
    const informer = createSharedInformer({ kind: ConfigMap, listerWatcher: listerWatcherFor(client, ConfigMap) });
    const events = /** @type {string[]} */ ([]);
    let notify = () => {};
    informer.addEventHandler({
      onEvent: (/** @type {any} */ { type, key }) => {
        if (key !== `default/${name}`) return;
        events.push(type);
        notify();
      },
    });
    const running = informer.run(stop.signal);
    const until = async (/** @type {string} */ type) => {
      const deadline = Date.now() + 20_000;
      while (!events.includes(type)) {
        if (Date.now() > deadline) throw new Error(`no event ${type}: ${events.join()}`);
        await Promise.race([new Promise((resolve) => (notify = () => resolve(undefined))), wait(200)]);
      }
    };
    await until('add');
    const found = await client.get(ConfigMap, { namespace: 'default', name });
    await client.update(ConfigMap, { ...found, data: { step: '2' } });
    await until('update');
    await client.delete(ConfigMap, { namespace: 'default', name });
    await until('delete');
    stop.abort();
    await running;
    await client[Symbol.asyncDispose]();
    return 'ok';
  });

  await step('server', async () => {
    const { createEnvironment } = await load('@kctl/testing');
    const environment = await createEnvironment();
    const namespace = await environment.createNamespace('consumer');
    await environment.stop();
    return namespace.startsWith('consumer-') ? 'ok' : `FAILED ${namespace}`;
  });
}

/** @param {number} ms */
function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
