// An operator on @kctl/runtime that has nothing to do: kctl.ts <server.json> <initial|events|updates> <objects> <passes>
import { channelSource, controllerManagedBy, createEventChannel, createManager } from '@kctl/runtime';
import { enqueueRequestForObject, noopLogger } from '@kctl/runtime';
import { printSample } from '../harness/measure.js';
import { cpuMs, longestTurn, residentBytes, rest } from '../informer/usage.js';
import { connectionTo, readServerInfo } from '../servers/server-info.js';
import { marks, namespace, Widget, widgetName } from './widget.js';

const [path = '', scenario = 'initial', objectsText = '0', passesText = '0'] = process.argv.slice(2);
const objects = Number(objectsText);
const passes = Number(passesText);

const manager = await createManager({
  connection: connectionTo(readServerInfo(path)),
  logger: noopLogger,
  ...(process.env['KCTL_BENCH_INSPECTION'] === '1' ? { inspection: { port: 0 } } : {}),
});
const { client } = manager;
let reconciles = 0;
let goal = objects;
let reached = Promise.withResolvers           ();
let isMeasuring = false;
const lastSent = new Map                ();
/** Those of the part of the run that is under way. */
let latencies           = [];
let onMark                         = () => undefined;
const channel = createEventChannel        ({ capacity: objects });
controllerManagedBy(manager)
  .for(Widget)
  .watchesRawSource(channelSource({ name: 'bench', events: channel, handler: enqueueRequestForObject() }))
  .complete(async (request) => {
    const { spec } = await client.get(Widget, { namespace: request.namespace ?? '', name: request.name });
    reconciles++;
    if (isMeasuring) {
      const sentAt = spec?.sentAt ?? 0;
      if (sentAt !== lastSent.get(request.name)) {
        lastSent.set(request.name, sentAt);
        latencies.push(performance.timeOrigin + performance.now() - sentAt);
      }
      if (request.name === widgetName(0) && spec?.colour !== undefined) onMark(spec.colour);
    } else if (reconciles === goal) reached.resolve(undefined);
  });

const pause = longestTurn();
let start = { wall: performance.now(), cpu: cpuMs() };
const used = ()                                    => ({
  wallMs: performance.now() - start.wall,
  cpuMs: cpuMs() - start.cpu,
});
const stop = new AbortController();
const run = manager.run(stop.signal);
await Promise.race([reached.promise, run]);
if (scenario === 'initial') {
  const sample = { ops: reconciles, ...used(), pauseMs: pause() };
  await rest();
  printSample({ ...sample, ...{ residentMb: residentBytes() / 2 ** 20 } });
} else if (scenario === 'events') {
  const widgets = Array.from({ length: objects }, (_, i)         => ({ metadata: { namespace, name: widgetName(i) } }));
  const pass = async ()                => {
    goal = reconciles + objects;
    reached = Promise.withResolvers();
    for (const widget of widgets) if (!channel.send(widget)) throw new Error('the channel is full');
    await reached.promise;
  };
  for (let i = 0; i < passes; i++) await pass();
  const before = reconciles;
  pause();
  start = { wall: performance.now(), cpu: cpuMs() };
  for (let i = 0; i < passes; i++) await pass();
  printSample({ ops: reconciles - before, ...used() });
} else {
  for (const { metadata, spec } of (await client.list(Widget, { namespace })).items)
    lastSent.set(metadata.name ?? '', spec?.sentAt ?? 0);
  await rest(); // what the start has left to do is not part of it
  pause();
  const percentile = (share        )         => {
    latencies.sort((a, b) => a - b);
    return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  };
  let before = reconciles;
  const part = ()                                                                               => ({
    ops: reconciles - before,
    ...used(),
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  });
  const begin = ()       => {
    latencies = [];
    before = reconciles;
    start = { wall: performance.now(), cpu: cpuMs() };
  };
  let cold                                     ;
  let isWarm = false;
  const done = Promise.withResolvers           ();
  onMark = (mark) => {
    if (mark === marks.coldEnd) cold ??= part();
    else if (mark === marks.warmStart && !isWarm) {
      isWarm = true;
      begin();
    } else if (mark === marks.end) done.resolve(undefined);
  };
  isMeasuring = true;
  begin();
  console.log('ready');
  await done.promise;
  const warm = part();
  printSample({
    ...(cold ?? warm),
    ...{ warmP50Ms: warm.p50Ms, warmP99Ms: warm.p99Ms, warmCpuUs: (warm.cpuMs / warm.ops) * 1000 },
  });
}
stop.abort();
await run;
