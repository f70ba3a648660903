// One point of a curve in a process of its own: point.ts <size as JSON> <url of the server>. Prints figures as JSON.
import { defineKind } from '@kctl/apimachinery';
                                                     
import { createHttpClient } from '@kctl/client-http';
import { createCache } from '@kctl/runtime';
import { cpuMs, longestTurn, residentBytes, rest } from '../informer/usage.js';
                                      
import { firstVersion, group, kindName, wholeRounds } from './size.js';

const size = JSON.parse(process.argv[2] ?? '')        ;
const url = process.argv[3] ?? '';
/** With a thousand handlers an event is a thousand calls. */
const storm = wholeRounds(size, size.handlers > 10 ? 20_000 : 100_000);
const paced = wholeRounds(size, 1000);
const perSecond = 250;

const client = createHttpClient({ connection: { server: url } });
const cache = createCache({ client });
let calls = 0;
const latencies           = [];
const informers = Array.from({ length: size.kinds }, (_, kind) => {
  const informer = cache.informerFor(
    defineKind            ({ group, version: 'v1', kind: kindName(kind), scope: 'Namespaced' }),
  );
  informer.addIndexers({ node: { path: 'spec.node' } });
  for (let nth = 1; nth < size.handlers; nth++) informer.addEventHandler({ onEvent: () => void calls++ });
  // The last of them: it waits for all others.
  informer.addEventHandler({
    onEvent: ({ header }) => {
      calls++;
      if (!isPaced) return;
      const { sent } = header.labels;
      if (sent !== undefined) latencies.push(Number(process.hrtime.bigint() - BigInt(sent)) / 1e6);
    },
  });
  return informer;
});
let isPaced = false;

await rest();
const residentBefore = residentBytes();
const stop = new AbortController();
const cpuBefore = cpuMs();
const wallBefore = performance.now();
let turn = longestTurn();
const run = cache.run(stop.signal);
await cache.waitForSync();
await allCalled(size.objects);
const startMs = performance.now() - wallBefore;
const startCpuMs = cpuMs() - cpuBefore;
const startTurnMs = turn();
await rest();
const bytes = residentBytes() - residentBefore;
const { heapUsed, external } = process.memoryUsage();

turn = longestTurn();
const cpuBeforeStorm = cpuMs();
let reached = firstVersion + size.objects;
await ask(`/storm?events=${storm}`);
reached += storm;
await Promise.all(informers.map((informer, kind) => informer.waitForResourceVersion(lastVersion(kind))));
const stormCpuMs = cpuMs() - cpuBeforeStorm;
const stormTurnMs = turn();

isPaced = true;
await ask(`/paced?events=${paced}&perSecond=${perSecond}`);
reached += paced;
await Promise.all(informers.map((informer, kind) => informer.waitForResourceVersion(lastVersion(kind))));
while (latencies.length < paced) await new Promise((resolve) => setTimeout(resolve, 10));
latencies.sort((a, b) => a - b);
const held = informers.reduce((sum, { indexer }) => sum + indexer.size, 0);
if (held !== size.objects) throw new Error(`${held} objects, expected ${size.objects}`);
stop.abort();
await run;
await client[Symbol.asyncDispose]();
console.log(
  JSON.stringify({
    bytes,
    heapBytes: heapUsed + external,
    startMs,
    startCpuMs,
    startTurnMs,
    eventCpuUs: (stormCpuMs * 1000) / storm,
    stormTurnMs,
    latencyP50Ms: latencies[latencies.length >> 1],
    latencyP99Ms: latencies[Math.floor(latencies.length * 0.99)],
  }),
);
process.exit(0);

/** The version of the last event of a kind: a storm goes round the kinds. */
function lastVersion(kind        )         {
  return String(reached - size.kinds + kind + 1);
}

async function ask(path        )                {
  const answer = await fetch(url + path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

async function allCalled(objects        )                {
  const expected = objects * size.handlers;
  while (calls < expected) await new Promise((resolve) => setTimeout(resolve, 1));
}
