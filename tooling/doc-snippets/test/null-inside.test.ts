// Arguments that fit, but for one place inside of them, where there is null, a number or an empty object: in each array and
// each object that an exported function, or a method of what factories make, takes. What is refused is refused in words of
// the library's own.
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import * as controller from '@kctl/controller';
import { createLeaseLock } from '@kctl/leader-election';
import { noopLogger, noopMetrics, noopTracer } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import { expect, it } from 'vitest';
import { made, modules, object, ownCache, real, shared, transport } from './parts.js';
import { isRaw } from './raw-errors.js';
import { type Callable, damaged, Declarations, type Known } from './typed-values.js';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'b', controller: true };
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'a',
  message: 'a',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const managed = {
  manager: 'a',
  operation: 'Apply',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
};
const container = { name: 'a', image: 'a', ports: [{ name: 'a', containerPort: 1 }], env: [{ name: 'a', value: 'a' }] };
/** An object with what functions look at. */
const whole = {
  ...object,
  metadata: {
    ...object.metadata,
    labels: { a: 'a' },
    annotations: { a: 'a' },
    finalizers: ['example.com/a'],
    ownerReferences: [owner],
    managedFields: [managed],
  },
  spec: {
    containers: [container],
    selector: { matchLabels: { a: 'a' } },
    replicas: 1,
    volumes: [{ name: 'a', emptyDir: {} }],
  },
  status: { conditions: [condition], containerStatuses: [{ name: 'a', restartCount: 0 }], replicas: 1 },
};

const byType: readonly (readonly [RegExp, () => unknown])[] = [
  [/^(?:Kind|RolloutKind|AccessKind|AnyKind)\b|^K$/, () => Pod],
  [/^Clock\b/, () => systemClock],
  [/^Logger\b/, () => noopLogger],
  [/^Metrics\b/, () => noopMetrics],
  [/^Tracer\b/, () => noopTracer],
  [/^AbortSignal\b/, () => AbortSignal.abort(new Error('the test has ended'))],
  [/^(?:HttpClient|Client|Reader|Writer|Watcher|FrameReader|Pick<(?:Reader|Writer|Client|Watcher))\b/, () => real],
  [/^(?:Manager|InspectedManager)\b/, () => made['Manager']],
  [/^(?:Cache|InformerProvider|CacheView)\b/, () => ownCache],
  [/^SharedInformer\b/, () => shared],
  [/^(?:Transport|HttpTransport)\b/, () => transport],
  [/^(?:ResourceLock|LeaseLock)\b/, () => createLeaseLock({ client: real, namespace: 'a', name: 'b', identity: 'c' })],
  [/^(?:EventHandler)\b/, () => controller.enqueueRequestForObject()],
  [/^(?:Connection|HttpConnection)\b/, () => ({ server: 'https://127.0.0.1:1' })],
  [/^(?:ObjectKey|KeyOf|NamespacedKey|OwnKey)\b/, () => ({ namespace: 'default', name: 'a' })],
  [/^(?:KeyOrObject|T|ReadObject|ReadPod|KubeObject|Owner|UntypedObject|O|Pod|Draft|ManifestObject)\b/, () => whole],
  [/^(?:DeepReadonly|Readonly)<(?:T|KubeObject|UntypedObject|Pod)>/, () => whole],
  [/^(?:Buffer|Uint8Array)\b/, () => Buffer.from('{}')],
];
const byName: Readonly<Record<string, () => unknown>> = {
  kind: () => Pod,
  ownerKind: () => Deployment,
  object: () => whole,
  apiVersion: () => 'v1',
  port: () => 0,
  ports: () => [{ remote: 80 }],
  conditions: () => [condition],
  listerWatcher: () => ({ list: real.list, watch: real.watch }),
  after: () => Promise.resolve(),
  client: () => real,
};
const known: Known = (name, type) => byType.find(([pattern]) => pattern.test(type))?.[1]() ?? byName[name]?.();

const declarations = new Declarations(Object.keys(modules));

/** What authors of clients and servers call with what the library, or Node, has made; and what connects at once. */
const others = new Set([
  ...['http-server.readBody', 'wait.nearestName', 'webhook.withWarnings', 'webhook.registrationProblem'],
  'runtime.createManager',
]);

type Call = (...args: readonly unknown[]) => unknown;

function callOf({ package: name, of, name: method }: Callable): Call | undefined {
  const target = of === undefined ? modules[name] : made[of];
  const value: unknown = target === undefined ? undefined : Reflect.get(target, method);
  if (typeof value !== 'function' || !/^[a-z]/.test(method)) return undefined;
  return (...args) => Reflect.apply(value, target, args) as unknown;
}

function* argumentLists({ parameters }: Callable): Generator<readonly unknown[]> {
  const wanted = parameters.map((each) => {
    const optional =
      declarations.membersOf(/\w+/.exec(each.type)?.[0] ?? '')?.filter(({ isOptional }) => isOptional) ?? [];
    return [undefined, ...optional.map(({ name }) => name)];
  });
  const fitting = parameters.map((each) => declarations.valueFor(each, known));
  for (const [at, parameter] of parameters.entries())
    for (const name of wanted[at] ?? [])
      for (const value of damaged(declarations.valueFor(parameter, known, name))) yield fitting.with(at, value);
}

const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

/** What a call fails with within some turns of the event loop. */
async function failureOf(call: () => unknown): Promise<unknown> {
  const outcome: { error?: unknown } = {};
  try {
    const result = call();
    const isIterable = typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
    const end = isIterable ? (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next() : result;
    Promise.resolve(end).catch((error: unknown) => (outcome.error = error));
  } catch (error) {
    return error;
  }
  for (let count = 0; count < 3 && outcome.error === undefined; count++) await turn();
  return outcome.error;
}

function placeOf({ stack = '' }: Error): string {
  const [, place = stack] = /packages\/(\S+:\d+):\d+/.exec(stack) ?? [];
  return place;
}

it('null inside of arguments is refused in words of our own', { timeout: 300_000 }, async () => {
  const problems = new Map<string, string>();
  let calls = 0;
  for (const callable of declarations.functions) {
    const call = callOf(callable);
    const what = `${callable.of ?? callable.package}.${callable.name}`;
    if (call === undefined || others.has(what)) continue;
    for (const args of argumentLists(callable)) {
      calls++;
      const error = await failureOf(() => call(...args));
      // One for each place: what is wrong there most often concerns other arguments, too.
      if (isRaw(error)) problems.set(placeOf(error), `${what}: ${error.message}`);
    }
  }
  expect(Object.fromEntries(problems)).toEqual({});
  expect(calls).toBeGreaterThan(10_000);
});
