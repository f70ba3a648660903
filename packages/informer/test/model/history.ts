import { defineKind } from '@kctl/apimachinery';
import type { Family, Logger, Metrics } from '@kctl/telemetry';
import { isDeadlineExceeded } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { createSharedInformer } from '../../src/index.js';
import type { SharedInformer } from '../../src/index.js';
import type { Item } from './fake-server.js';
import { FakeServer, isPoison } from './fake-server.js';
import { createChance } from './random.js';
import type { Chance } from './random.js';
import { Recorder } from './recorder.js';

const ItemKind = defineKind<Item>()({ group: 'example.com', version: 'v1', kind: 'Item', scope: 'Namespaced' });

const boom = (): never => {
  throw new Error('the sink is broken');
};
const broken = { inc: boom, dec: boom, set: boom, observe: boom };
const family = (): Family<typeof broken> => ({ with: () => broken, remove: boom });
/** A logger and metrics that fail whatever they are asked for, but to be made. */
const brokenSinks: { readonly logger: Logger; readonly metrics: Metrics } = {
  logger: { isEnabled: boom, trace: boom, debug: boom, info: boom, warn: boom, error: boom, child: boom },
  metrics: { counter: family, gauge: family, histogram: family, onCollect: boom },
};

/** Plays one random history and returns what was wrong with it. */
export async function playHistory(seed: number): Promise<string[]> {
  const chance = createChance(seed);
  const clock = new FakeClock();
  const server = new FakeServer(chance, clock);
  const recorders: Recorder[] = [];
  let reports = 0;
  const informer = createSharedInformer<Item>({
    kind: ItemKind,
    listerWatcher: chance.maybe(0.7) ? server.byteSource() : server.objectSource(),
    indexers: {
      node: { path: 'spec.node', scoped: chance.maybe(0.5) },
      app: { header: ({ labels }) => [labels['app'] ?? ''] },
    },
    clock,
    random: () => chance.next(),
    watchErrorHandler: () => {
      reports++;
      return undefined;
    },
    onHandlerError: (error, label) => {
      if (isDeadlineExceeded(error)) recorders.find((recorder) => recorder.label === label)?.gaveUp();
    },
    ...(chance.maybe(0.4) ? { pageSize: 3 } : {}),
    ...(chance.maybe(0.3) ? { transform: transformOf(chance) } : {}),
    // By the seed, so that those that are known stay what they are.
    ...(seed % 2 === 0 ? { storage: { plainBytes: seed % 3 === 0 ? 1200 : 0 } } : {}),
    ...(seed % 5 === 0 ? brokenSinks : {}),
  });
  const violations: string[] = [];
  let handlers = 0;
  const register = (): void => {
    if (recorders.length >= 6) return;
    const label = `seed ${seed} handler ${handlers++}`;
    recorders.push(
      new Recorder(informer, clock, {
        chance,
        label,
        isThere: (key, uid) => server.objects.get(key)?.metadata.uid === uid,
        goesBack: () => server.isRestored,
        join: register,
      }),
    );
  };
  for (let writes = chance.int(12); writes > 0; writes--) server.write();
  if (chance.maybe(0.8)) register();
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  for (let step = 12 + chance.int(25); step > 0; step--) {
    const choice = chance.next();
    if (choice < 0.45) for (let writes = 1 + chance.int(4); writes > 0; writes--) server.write();
    else if (choice < 0.55) server.bookmark();
    else if (choice < 0.7) server.breakWatch();
    else if (choice < 0.75) server.compact();
    else if (choice < 0.8) server.restart();
    else if (choice < 0.87 && recorders.length < 5) register();
    else if (choice < 0.92 && recorders.length > 0) void chance.pick(recorders).remove();
    else if (choice < 0.94) clock.setWallTime(clock.now() + (chance.next() - 0.5) * 1e9);
    else if (choice >= 0.96 && seed % 4 === 3) server.restore();
    else if (choice < 0.95) informer.addIndexers({ [`late-${step}`]: (object) => [object.spec.node] });
    try {
      informer.indexer.list();
    } catch (error) {
      violations.push(`seed ${seed}: a list throws: ${String(error)}`);
    }
    if (chance.maybe(0.6)) await clock.advance(chance.pick([1, 50, 900, 3000, 20_000]));
  }
  if (seed % 4 === 3) {
    server.restore();
    await clock.advance(20_000);
  }
  server.faults = 0;
  server.heal();
  server.restart();
  // Twice: a list that was damaged on its way may have been read only after the restart.
  for (let round = 0; round < 2; round++) {
    for (let minute = 0; minute < 40 && !isQuiet(informer, server, recorders); minute++) {
      server.bookmark();
      await clock.advance(60_000);
    }
    if (round === 0) server.restart();
    await clock.advance(60_000);
  }
  violations.push(...server.violations.map((violation) => `seed ${seed}: ${violation}`));
  violations.push(...judge(seed, informer, { server, recorders }));
  const { silent } = server.incomplete;
  if (reports < silent) violations.push(`seed ${seed}: ${silent} silent streams, ${reports} reports`);
  if (server.canStream) {
    const before = server.initialStreams;
    server.expire();
    for (let minute = 0; minute < 5 && !isQuiet(informer, server, recorders); minute++) await clock.advance(60_000);
    if (server.initialStreams === before)
      violations.push(`seed ${seed}: lists from a server that can stream its state`);
  }
  const pendingWork = recorders.filter((recorder) => !recorder.isRemoved && !recorder.registration.hasSynced).length;
  if (pendingWork > 0) violations.push(`seed ${seed}: ${pendingWork} handlers never synced`);
  const leaves = chance.maybe(0.3);
  if (leaves) void informer.leaveScope();
  if (leaves) await clock.advance(600_000);
  const left = recorders.filter((recorder) => leaves && !recorder.isRemoved && recorder.known.size > 0).length;
  if (left > 0) violations.push(`seed ${seed}: ${left} handlers know objects of a scope that was left`);
  violations.push(...recorders.flatMap((recorder) => recorder.violations));
  stop.abort();
  let ended = false;
  void run.then(() => (ended = true));
  await clock.advance(10_000);
  if (!ended) violations.push(`seed ${seed}: run did not end`);
  if (server.openWatches > 0) violations.push(`seed ${seed}: ${server.openWatches} watches left open`);
  if (clock.pendingTimers > 0) violations.push(`seed ${seed}: ${clock.pendingTimers} timers left behind`);
  return violations;
}

/** A transform of any kind: one that copies, one that loses the identity, one that fails for some versions. */
function transformOf(chance: Chance): (object: Item) => Item {
  const drops = chance.maybe(0.3);
  const fails = chance.maybe(0.6);
  return (object) => {
    if (fails && isPoison(object)) throw new Error('the transform');
    if (!drops) return { ...object, spec: { ...object.spec } };
    const { resourceVersion: _resourceVersion, uid: _uid, ...metadata } = object.metadata;
    return { ...object, metadata };
  };
}

function isQuiet(informer: SharedInformer<Item>, server: FakeServer, recorders: readonly Recorder[]): boolean {
  return (
    informer.resourceVersion === String(server.version) &&
    recorders.every(
      (recorder) => recorder.isRemoved || (recorder.registration.hasSynced && recorder.registration.pending === 0),
    )
  );
}

function judge(
  seed: number,
  informer: SharedInformer<Item>,
  { server, recorders }: { server: FakeServer; recorders: readonly Recorder[] },
): string[] {
  const wrong: string[] = [];
  const expected = [...server.objects.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const stored = informer.indexer.list();
  if (informer.resourceVersion !== String(server.version))
    wrong.push(
      `is at ${informer.resourceVersion}, the server at ${server.version}, state ${informer.state.phase} ${informer.trouble?.message ?? ''}`,
    );
  const plain = (object: Item): string =>
    JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
  const sorted = (text: string): string => Array.from(text).sort().join('');
  if (
    stored.map((object) => sorted(JSON.stringify(object))).join() !==
    expected.map((object) => sorted(plain(object))).join()
  )
    wrong.push(
      `store is ${JSON.stringify(stored.map((object) => [keyOf(object as Item), object.metadata.resourceVersion]))}, server is ${JSON.stringify(expected.map((object) => [keyOf(object), object.metadata.resourceVersion]))}`,
    );
  for (const node of ['n1', 'n2', 'n3']) {
    const wanted = expected.filter((object) => object.spec.node === node).map(keyOf);
    if (informer.indexer.indexKeys('node', node).join() !== wanted.join())
      wrong.push(`index ${node} is ${informer.indexer.indexKeys('node', node).join()}, not ${wanted.join()}`);
    const within = wanted.filter((key) => key.startsWith('a/'));
    if (informer.indexer.storedByIndex('node', node, { namespace: 'a' }).length !== within.length)
      wrong.push(`scoped index ${node} differs`);
  }
  for (const app of ['x', 'y'])
    if (
      informer.indexer.indexKeys('app', app).length !==
      expected.filter((object) => object.metadata.labels?.['app'] === app).length
    )
      wrong.push(`index ${app} differs`);
  for (const [index, recorder] of recorders.entries()) {
    if (recorder.isRemoved) continue;
    const known = [...recorder.known].map(([key, { version }]) => `${key}@${version}`).sort();
    const wanted = expected.map((object) => `${keyOf(object)}@${object.metadata.resourceVersion}`).sort();
    if (known.join() !== wanted.join()) wrong.push(`handler ${index} knows ${known.join()}, not ${wanted.join()}`);
  }
  return wrong.map((text) => `seed ${seed}: ${text}`);
}

function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}
