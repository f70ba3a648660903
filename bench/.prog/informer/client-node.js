// @kubernetes/client-node's informer: client-node.ts <scenario> <objects> <events> <url>
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { printSample } from '../harness/measure.js';
import { firstVersion } from './dataset.js';
import { cpuMs, longestTurn, residentBytes, rest } from './usage.js';

const [scenario = 'list', objectsText = '0', eventsText = '0', url = ''] = process.argv.slice(2);
const objects = Number(objectsText);
const events = Number(eventsText);
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'c', server: url, skipTLSVerify: true }],
  users: [{ name: 'u' }],
  contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
  currentContext: 'x',
});
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
const queues = [new Set        (), new Set        ()];
// It has no indexers: two maps by hand, which is what its users write.
const byNamespace = new Map                     ();
const byNode = new Map                     ();
const index = (map                          , value        , key        )       => {
  let keys = map.get(value);
  if (keys === undefined) map.set(value, (keys = new Set()));
  keys.add(key);
};
let added = 0;
const last = String(firstVersion + objects + events);
const synced = Promise.withResolvers           ();
const finished = Promise.withResolvers           ();
for (const event of ['add', 'update']         )
  for (const [place, queue] of queues.entries())
    informer.on(event, (pod) => {
      const key = `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
      queue.add(key);
      if (place !== 0) return;
      index(byNamespace, pod.metadata?.namespace ?? '', key);
      index(byNode, pod.spec?.nodeName ?? '', key);
      if (event === 'add' && ++added === objects) synced.resolve(undefined);
      if (pod.metadata?.resourceVersion === last) finished.resolve(undefined);
    });

await rest();
const before = residentBytes();
const pause = longestTurn();
let start = { wall: performance.now(), cpu: cpuMs() };
await informer.start();
await synced.promise;
if (scenario === 'watch') {
  start = { wall: performance.now(), cpu: cpuMs() };
  await finished.promise;
}
const wallMs = performance.now() - start.wall;
const used = cpuMs() - start.cpu;
const pauseMs = pause();
await rest();
const bytesPerKey = (residentBytes() - before) / objects;
printSample({ ops: scenario === 'watch' ? events : objects, wallMs, cpuMs: used, bytesPerKey, pauseMs });
await informer.stop();
process.exit(0);
