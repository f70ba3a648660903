// @kctl/informer over @kctl/client-http: kctl.ts <plain|compact> <scenario> <objects> <events> <url> <pods|workloads>
// In `list-read` and `watch-read` the first handler reads the object of each event.
import { defineKind } from '@kctl/apimachinery';
                                                           
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { printSample } from '../harness/measure.js';
import { firstVersion } from './dataset.js';
import { cpuMs, residentBytes, rest, turns } from './usage.js';

const [storage, scenario = 'list', objectsText = '0', eventsText = '0', url = '', resource = 'pods'] =
  process.argv.slice(2);
const objects = Number(objectsText);
const events = Number(eventsText);
const client = createHttpClient({ connection: { server: url } });
const Workload = defineKind({ group: 'bench.kctl.dev', version: 'v1', kind: 'Workload', scope: 'Namespaced' });
const kind       = resource === 'pods' ? Pod : Workload;
const informer = createSharedInformer            ({
  kind,
  listerWatcher: listerWatcherFor            (client, kind),
  indexers: { node: { path: 'spec.nodeName' } },
  ...(storage === 'compact' ? { storage } : {}),
});
const queues = [new Set        (), new Set        ()];
const isRead = scenario.endsWith('-read');
const isWatch = scenario.startsWith('watch');
let labels = 0;
/** The last event of the watch, at the handler that reads. */
const lastRead = Promise.withResolvers           ();
const lastVersion = String(firstVersion + objects + events);
const registrations = [...queues.entries()].map(([place, queue]) =>
  informer.addEventHandler({
    onEvent: (event) => {
      queue.add(event.key);
      if (!isRead || place > 0) return;
      labels += Object.keys(event.object.metadata.labels ?? {}).length;
      if (event.object.metadata.resourceVersion === lastVersion) lastRead.resolve(undefined);
    },
  }),
);

await rest();
const before = residentBytes();
const pause = turns();
const stop = new AbortController();
let start = { wall: performance.now(), cpu: cpuMs() };
const run = informer.run(stop.signal);
await informer.waitForSync();
// What is read by handlers has been read when they have heard of everything.
if (isRead) for (const registration of registrations) await registration.waitForSync();
if (isWatch) {
  start = { wall: performance.now(), cpu: cpuMs() };
  await informer.waitForResourceVersion(lastVersion);
  if (isRead) await lastRead.promise;
}
const wallMs = performance.now() - start.wall;
const used = cpuMs() - start.cpu;
const { longest: pauseMs, p999: pauseP999Ms } = pause();
if (isRead && labels < objects) throw new Error(`${labels} labels were read of ${objects} objects`);
if (informer.indexer.size !== objects) throw new Error(`${informer.indexer.size} objects, expected ${objects}`);
if (scenario === 'reads') await reads();
else {
  await rest();
  const bytesPerKey = (residentBytes() - before) / objects;
  printSample({ ops: isWatch ? events : objects, wallMs, cpuMs: used, bytesPerKey, pauseMs, pauseP999Ms });
}
stop.abort();
await run;
await client[Symbol.asyncDispose]();

/** First read, repeated get and list of 100 by index, as three samples in one: `wallMs` per op of the one that is asked for. */
async function reads()                {
  const keys = informer.indexer.listStored().map(({ namespace, name }) => ({ namespace, name }));
  // Time of this thread, so that other processes that want the core do not count.
  const timed = (ops        , work            )         => {
    const from = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(from);
    return (user + system) / ops;
  };
  let sum = 0;
  const count = Math.min(20_000, keys.length);
  const first = timed(count, () => {
    for (let i = 0; i < count; i++) sum += informer.indexer.get(keys[i] )?.metadata.name?.length ?? 0;
  });
  const again = timed(5_000_000, () => {
    for (let i = 0; i < 5_000_000; i++) sum += informer.indexer.get(keys[i % count] ) === undefined ? 0 : 1;
  });
  const values = informer.indexer.listIndexFuncValues('node');
  for (const value of values) sum += informer.indexer.byIndex('node', value).length;
  const listed = timed(200_000, () => {
    for (let i = 0; i < 200_000; i++) sum += informer.indexer.byIndex('node', values[i % values.length] ).length;
  });
  const perList = informer.indexer.byIndex('node', values[0] ).length;
  if (perList !== 100) throw new Error(`${perList} objects to a list, expected 100`);
  console.error(JSON.stringify({ firstReadUs: first, getUs: again, listUs: listed, perList, sum }));
  printSample({ ops: 1, wallMs: first / 1000, cpuMs: again / 1000, pauseMs: listed / 1000 });
}
