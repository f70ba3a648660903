// The classic informer by hand, reflector → DeltaFIFO → indexer → handlers: by-hand.ts <scenario> <objects> <events> <url>
                                                                  
import { formatKey, parseKey } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createIndexer } from '@kctl/cache-index';
import { createHttpClient } from '@kctl/client-http';
import { createDeltaController, createDeltaFifo, listerWatcherFor } from '@kctl/informer';
import { printSample } from '../harness/measure.js';
import { firstVersion } from './dataset.js';
import { cpuMs, longestTurn, residentBytes, rest } from './usage.js';

                                                          

const [scenario = 'list', objectsText = '0', eventsText = '0', url = ''] = process.argv.slice(2);
const objects = Number(objectsText);
const events = Number(eventsText);
const client = createHttpClient({ connection: { server: url } });
const indexer = createIndexer                               ({ indexers: { node: { path: 'spec.nodeName' } } });
const queue = createDeltaFifo        ({
  knownObjects: {
    keys: () => [...indexer.values()].map(formatKey),
    get: (key) => indexer.get(parseKey(key)),
  },
});
const handlers = [new Set        (), new Set        ()];
const synced = Promise.withResolvers           ();
const last = Promise.withResolvers           ();
const lastVersion = String(firstVersion + objects + events);
const controller = createDeltaController({
  kind: Pod,
  listerWatcher: listerWatcherFor(client, Pod),
  queue,
  onProcessError: (error) => {
    synced.reject(error);
    last.reject(error);
  },
  process: (deltas) => {
    for (const { type, key, object } of deltas) {
      if (type === 'Deleted') indexer.delete(parseKey(key));
      else indexer.put(object);
      for (const handler of handlers) handler.add(key);
      if (object?.metadata.resourceVersion === lastVersion) last.resolve(undefined);
    }
    if (indexer.size === objects) synced.resolve(undefined);
  },
});

await rest();
const before = residentBytes();
const pause = longestTurn();
const stop = new AbortController();
let start = { wall: performance.now(), cpu: cpuMs() };
const run = controller.run(stop.signal);
await synced.promise;
if (scenario === 'watch') {
  start = { wall: performance.now(), cpu: cpuMs() };
  await last.promise;
}
const wallMs = performance.now() - start.wall;
const used = cpuMs() - start.cpu;
const pauseMs = pause();
if (indexer.size !== objects) throw new Error(`${indexer.size} objects, expected ${objects}`);
await rest();
const bytesPerKey = (residentBytes() - before) / objects;
printSample({ ops: scenario === 'watch' ? events : objects, wallMs, cpuMs: used, bytesPerKey, pauseMs });
stop.abort();
await run;
await client[Symbol.asyncDispose]();
