// What is exported for programs that talk to a cluster refuses wrong arguments in words of its own: a TypeError of the engine,
// such as "Cannot read properties of undefined", names neither the argument nor the remedy.
import * as apimachinery from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import * as cache from '@kctl/cache';
import * as cacheIndex from '@kctl/cache-index';
import * as builder from '@kctl/builder';
import * as client from '@kctl/client';
import * as operations from '@kctl/client/operations';
import { createDelegatingClient } from '@kctl/client-delegating';
import * as http from '@kctl/client-http';
import * as events from '@kctl/events';
import * as informer from '@kctl/informer';
import { createInspection } from '@kctl/inspection';
import * as kubeconfig from '@kctl/kubeconfig';
import * as leaderElection from '@kctl/leader-election';
import * as manifests from '@kctl/manifests';
import * as manager from '@kctl/manager';
import * as pods from '@kctl/pods';
import * as controller from '@kctl/controller';
import * as rbac from '@kctl/rbac';
import * as wait from '@kctl/wait';
import * as webhook from '@kctl/webhook';
import * as workqueue from '@kctl/workqueue';
import { describe, expect, it } from 'vitest';
import { isRaw } from './raw-errors.js';

/** What authors call with objects. Other functions of @kctl/apimachinery take texts, and what else is a mistake of the types. */
const authored = [
  ...['setFinalizer', 'unsetFinalizer', 'hasFinalizer', 'isDeleting', 'keyOf', 'parseKey', 'formatKey', 'createScheme'],
  ...['setCondition', 'removeCondition', 'findCondition', 'isConditionTrue', 'controllerOf', 'setControllerReference'],
  ...['setOwnerReference', 'removeOwnerReference', 'removeControllerReference', 'hasOwnerReference', 'defineKind'],
  ...['hasControllerReference', 'metadataOnly', 'unstructured'],
];
const pickFrom = (module: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(module).filter(([name]) => names.includes(name)));

const modules: Readonly<Record<string, object>> = {
  client,
  operations,
  http,
  events,
  kubeconfig,
  manifests,
  pods,
  apimachinery: pickFrom(apimachinery, authored),
  builder,
  cache,
  cacheIndex,
  controller,
  informer,
  leaderElection,
  manager,
  rbac,
  wait,
  webhook,
  workqueue,
};
/**
 * Their first argument is a part of an error message, written by the author of a client; or an event, a request or a
 * response that the library made.
 */
const forAuthors = [
  ...[
    'headerOfEvent',
    'oldHeaderOfEvent',
    'annotationChanged',
    'generationChanged',
    'labelChanged',
    'resourceVersionChanged',
    'observerOption',
  ],
  ...['isForeignRequest', 'isLoopback', 'withWarnings'],
  'requireCallOptions',
  ...['requireClient', 'requireClientPart', 'requireListAnswer', 'requireObjectAnswer'],
  'requireKey',
  'requireKind',
  'requireList',
  'requireName',
  'requireObject',
  'requireOptionsObject',
  ...['storageOption', 'reflectorConfigProblems'],
  ...['describeInformerState', 'parseDuration'],
];

const key = { namespace: 'default', name: 'a' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, uid: 'u', resourceVersion: '1' } };
const deployment = { ...configMap, apiVersion: 'apps/v1', kind: 'Deployment', spec: {} };
const definition = { spec: { versions: [] }, status: { storedVersions: [] } };
const answer = async () => await Promise.resolve({ ...configMap, ...definition });
const verbs = { get: answer, create: answer, update: answer, patch: answer };
const fake = {
  ...verbs,
  delete: answer,
  deleteAllOf: async () => await Promise.resolve({ status: 'Success' }),
  list: async () => await Promise.resolve({ metadata: {}, items: [configMap] }),
  status: () => verbs,
  subResource: () => verbs,
  transport: {
    server: 'https://127.0.0.1:1',
    send: async () => await Promise.resolve({ status: 404, headers: {}, body: bodyOf('{}') }),
  },
};
async function* bodyOf(text: string) {
  yield await Promise.resolve([Buffer.from(text)]);
}

const fitting: readonly unknown[] = [
  fake,
  ConfigMap,
  Pod,
  Deployment,
  Node,
  key,
  configMap,
  deployment,
  {},
  'a',
  () => true,
  [configMap],
  [ConfigMap],
];
const wrong: readonly unknown[] = [
  ...[undefined, null, 0, Number.NaN, '', 'x', true, 10n, Symbol('s'), [], [null]],
  ...[{ metadata: null }, { metadata: {} }, () => undefined, new Date(Number.NaN), Object.create(null)],
];
const optionNames = [
  ...[
    'signal',
    'timeoutMs',
    'namespace',
    'labelSelector',
    'fieldOwner',
    'until',
    'container',
    'ports',
    'clock',
    'logger',
  ],
  ...['dryRun', 'headers', 'backoff', 'onProgress', 'kind', 'optimisticLock', 'follow', 'mapper', 'resolver', 'mutate'],
];

/** A linear congruential generator: a failure repeats. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

type Call = (...args: readonly unknown[]) => unknown;
const isCall = (value: unknown): value is Call => typeof value === 'function';

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Clients of each kind, on a server that answers anything with an object. */
function clientsOf(): Readonly<Record<string, client.Client>> {
  const body = JSON.stringify(configMap);
  const transport = {
    server: 'https://127.0.0.1:1',
    send: async () =>
      await Promise.resolve({
        status: 200,
        contentType: 'application/json',
        retryAfterMs: undefined,
        headers: {},
        body: bodyOf(body),
      }),
    [Symbol.asyncDispose]: async () => await Promise.resolve(),
  };
  const plain = http.createHttpClient({ transport });
  const inspection = createInspection();
  const recorded = inspection.observeWrites(plain);
  return {
    plain,
    delegating: createDelegatingClient({ client: plain, cache: cache.createCache({ client: plain }) }),
    dryRun: client.withDryRun(plain),
    fieldOwner: client.withFieldOwner(plain, 'me'),
    inNamespace: client.inNamespace(plain, 'default'),
    intercepted: client.intercept(plain, (next) => ({ get: (kind, named, options) => next.get(kind, named, options) })),
    recorded: client.record(plain),
    requests: http.withRequestOptions(plain, { maxRetries: 0 }),
    // Each call as if a run sent it: the others pass through.
    inspected: new Proxy(recorded, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          const run = { attempt: 1, reasons: [], reconcileId: '1' };
          const tally = inspection.observer.started('a', 'b', run as never);
          return inspection.requestCounter.run(tally, () => Reflect.apply(value, target, args) as unknown);
        };
      },
    }),
  };
}

const verbNames = ['get', 'list', 'create', 'update', 'patch', 'delete', 'deleteAllOf', 'watch'] as const;

/** The verbs of each client, those of its status and subresources included. */
function verbCases(): [string, Call][] {
  return Object.entries(clientsOf()).flatMap(([name, value]) => {
    const parts = {
      [name]: value,
      [`${name}.status`]: value.status(ConfigMap),
      [`${name}.subResource`]: value.subResource(ConfigMap, 'scale'),
    };
    return Object.entries(parts).flatMap(([what, part]) =>
      verbNames.flatMap((verb): [string, Call][] => {
        const method: unknown = Reflect.get(part, verb);
        if (!isCall(method)) return [];
        const isWhole = what === name;
        const call: Call = (...args) => Reflect.apply(method, part, isWhole ? args : args.slice(1));
        return [[`${what}.${verb}`, Object.defineProperty(call, 'length', { value: 4 })]];
      }),
    );
  });
}

/** The error of a call, where it ends at once. */
async function failureOf(call: Call, args: readonly unknown[]): Promise<unknown> {
  let later: NodeJS.Timeout | undefined;
  try {
    const result = call(...args);
    const end = isIterable(result) ? result[Symbol.asyncIterator]().next() : Promise.resolve(result);
    const waiting = new Promise((resolve) => {
      later = setTimeout(resolve, 20);
    });
    await Promise.race([end, waiting]);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(later);
  }
}

const cases = Object.entries(modules).flatMap(([module, exported]) =>
  Object.entries(exported).flatMap(([name, value]: [string, unknown]): [string, Call][] =>
    isCall(value) && /^[a-z]/.test(name) && !forAuthors.includes(name) ? [[`${module}.${name}`, value]] : [],
  ),
);

describe('wrong arguments', () => {
  const judgeAll = async (cases: readonly [string, Call][], first: unknown): Promise<string[]> => {
    const seed = Number(process.env['KCTL_SEED'] ?? 7);
    const calls = Number(process.env['KCTL_CALLS'] ?? 40);
    const problems: string[] = [];
    const judge = async ([name, call]: [string, Call]): Promise<void> => {
      const random = dice(seed);
      const pick = (list: readonly unknown[]): unknown => list[Math.floor(random() * list.length)];
      const argument = (at: number): unknown => {
        if (random() < 0.3) return pick(wrong);
        if (at === 0 && random() < 0.6) return first;
        return random() < 0.3 ? { [String(pick(optionNames))]: pick(wrong) } : pick(fitting);
      };
      for (let count = 0; count < calls; count++) {
        const args = Array.from({ length: Math.max(call.length, 1) + Math.floor(random() * 2) }, (_, at) =>
          argument(at),
        );
        const error = await failureOf(call, args);
        if (isRaw(error)) problems.push(`${name}: ${error.message} ${error.stack?.split('\n')[1] ?? ''}`);
      }
    };
    await Promise.all(cases.map(judge));
    return [...new Set(problems)];
  };

  const repeating = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Immediate').length;

  it('are refused in words of our own, by every exported function', async () => {
    const before = repeating();
    expect(await judgeAll(cases, fake)).toEqual([]);
    expect(cases.length).toBeGreaterThan(160);
    // What repeats a call that cannot succeed in each turn of the event loop takes all of it, without limit.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(repeating()).toBeLessThanOrEqual(before);
  });

  it('are refused in words of our own, by every verb of every client', async () => {
    const verbs = verbCases();
    expect(await judgeAll(verbs, ConfigMap)).toEqual([]);
    expect(verbs.length).toBeGreaterThan(100);
  });
});
