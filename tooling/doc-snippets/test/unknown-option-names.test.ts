// What takes options refuses a name that it does not have, with the nearest one: an option that is dropped in silence
// means its default, such as a patch without its lock. The entrances are read from the sources, so that a new one is
// judged without a line here.
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import * as controller from '@kctl/controller';
import { systemClock } from '@kctl/wait';
import { expect, it } from 'vitest';
import { entrancesOf, type Entrance } from './entrances.js';
import { fake, key, made, modules, object, own, ownCache, real, shared, transport } from './parts.js';

const fitting: readonly unknown[] = [
  ...[Deployment, ['a'], { on: ['create'] }, { validateCreate: () => undefined }, { namespace: 'a', name: 'b' }],
  controller.channelSource({
    name: 'c',
    events: controller.createEventChannel<typeof object>(),
    handler: controller.enqueueRequestForObject(),
  }),
  ...[fake, ConfigMap, object, key, 'a', 'a:b', () => undefined, async () => await Promise.resolve(1), [object], real],
  ...[
    Pod,
    'v1',
    1,
    ownCache,
    shared,
    transport,
    own,
    { metadata: { annotations: {} } },
    new Map(),
    systemClock,
    [],
    'http:1',
  ],
  ...[{ server: 'https://127.0.0.1:1' }, new AbortController().signal],
];

const misspelled = 'z'.repeat(60);
const noResult = Symbol('no result');

/** Turns of the event loop in which each call that refuses has refused: options are read before anything is awaited. */
async function someTurns(): Promise<typeof noResult> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return noResult;
}

/** What a call fails with at once, in its first step as a generator, or as a promise. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    const result = await Promise.race([call(), someTurns()]);
    if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result)
      await Promise.race([(result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next(), someTurns()]);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function* argumentLists(count: number): Generator<unknown[]> {
  if (count === 0) yield [];
  else for (const each of fitting) for (const rest of argumentLists(count - 1)) yield [...rest, each];
}

async function refuses(target: object, { name, position }: Entrance): Promise<boolean> {
  const call: unknown = Reflect.get(target, name);
  if (typeof call !== 'function') return false;
  for (const args of argumentLists(position)) {
    const message = await refusal(
      (): unknown => Reflect.apply(call, target, [...args, { [misspelled]: 1 }]) as unknown,
    );
    if (message.includes(`unknown option "${misspelled}"`)) return true;
  }
  return false;
}

/** Of functions that take more than the fitting arguments above, which the tests of their packages call; and others. */
const others: ReadonlyMap<string, string> = new Map([
  ['apimachinery.defineKind', 'kinds are made by the hundred, and their bundle has a limit'],
  ['wait.withDeadline', 'called with the options of a whole call, which its callers have checked'],
  ['telemetry.describeError', 'called for each error of a log line'],
  ['telemetry.loggable', 'called for each value of a log line'],
  ['telemetry.guardSinks', 'takes the options of others'],
  ['informer.reflectorConfigProblems', 'takes the options of others'],
  ['rbac.needProblems', 'takes the options of others'],
  ['manager.isForeignRequest', 'called for each request'],
  ['WorkQueue.run', 'tested in packages/runtime, with work'],
  ['WorkQueue.[Symbol.asyncIterator]', 'not a method with a name'],
  ['apimachinery.setCondition', 'the name of a generic, not options'],
  ['webhook.certificateRules', 'takes the options of createSelfManagedCertificates, which refuses them'],
  ['webhook.validationRule', 'its options are a rest parameter, which admissionWebhook refuses'],
  ['webhook.mutationRule', 'its options are a rest parameter, which admissionWebhook refuses'],
  ['Metrics.counter', 'each collector library has its own'],
  ['Metrics.gauge', 'each collector library has its own'],
  ['Metrics.histogram', 'each collector library has its own'],
  ['Cache.matcherFor', 'list refuses them first'],
  ['client.listWithin', 'hands them to list, which refuses them'],
]);

const entrances = Object.keys(modules).flatMap(entrancesOf);

it('unknown names of options are refused by every exported function', { timeout: 120_000 }, async () => {
  const silent: string[] = [];
  for (const entrance of entrances.filter(({ of }) => of === undefined)) {
    const exported = modules[entrance.package] ?? {};
    const what = `${entrance.package}.${entrance.name}`;
    if (!(entrance.name in exported) || others.has(what)) continue;
    if (!(await refuses(exported, entrance))) silent.push(what);
  }
  expect([...new Set(silent)]).toEqual([]);
});

it('unknown names of options are refused by every method of what factories make', { timeout: 120_000 }, async () => {
  const silent: string[] = [];
  for (const entrance of entrances) {
    const target = made[entrance.of ?? ''];
    if (target !== undefined && !others.has(`${entrance.of}.${entrance.name}`)) {
      if (!(await refuses(target, entrance))) silent.push(`${entrance.of}.${entrance.name}`);
    }
  }
  expect([...new Set(silent)]).toEqual([]);
});
