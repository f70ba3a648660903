// Parts of clients.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import * as client from '@kctl/client';
import * as operations from '@kctl/client/operations';
import { createDelegatingClient } from '@kctl/client-delegating';
import * as http from '@kctl/client-http';
import * as wait from '@kctl/wait';
import { type Scenario, type Stage } from './play.js';
import { object } from '../parts.js';
import { key, nothing, goodClient, failing, functionsOf } from './kit.js';

export const clients: readonly Scenario[] = [
  {
    name: 'a transport',
    part: {
      send: async () =>
        await Promise.resolve({
          status: 200,
          contentType: 'application/json',
          retryAfterMs: undefined,
          headers: {},
          body: bytes(JSON.stringify(object)),
        }),
      [Symbol.asyncDispose]: async () => await Promise.resolve(),
    },
    play: async ({ attempt, signal }, part: object) => {
      const transport = new Proxy(part, {
        get: (target, name) => (name === 'server' ? 'https://127.0.0.1:1' : Reflect.get(target, name)),
      });
      const own = http.createHttpClient({ transport: transport as never });
      await callAll(attempt, own, signal);
      const mapper = http.createRestMapper({ transport: transport as never });
      await attempt(() => mapper.kindFor({ group: 'example.com', kind: 'Thing' }));
      await attempt(() => mapper.kindForResource('things.example.com'));
      await attempt(() => own[Symbol.asyncDispose]());
    },
  },
  {
    name: 'the answer of a transport',
    part: { body: () => bytes(JSON.stringify(object)) },
    play: async ({ attempt, signal }, { body }: { readonly body: () => unknown }) => {
      const answer = async (): Promise<object> =>
        await Promise.resolve({
          status: 200,
          contentType: 'application/json',
          retryAfterMs: undefined,
          headers: {},
          body: body(),
        });
      const own = http.createHttpClient({
        transport: {
          server: 'https://127.0.0.1:1',
          send: answer,
          [Symbol.asyncDispose]: async () => await Promise.resolve(),
        } as never,
      });
      await callAll(attempt, own, signal);
    },
  },
  {
    name: 'a client behind others',
    part: goodClient,
    play: async ({ attempt, signal }, own: never) => {
      for (const wrapped of [
        client.withDryRun(own),
        client.withFieldOwner(own, 'me'),
        client.inNamespace(own, 'default'),
        client.record(own),
        client.intercept(own, () => ({})),
      ])
        await callAll(attempt, wrapped, signal);
    },
  },
  {
    name: 'a client of helpers',
    part: goodClient,
    except: ['watch'],
    play: async (stage, own: never) => {
      const { attempt, clock, signal } = stage;
      const calls: readonly (() => unknown)[] = [
        () => client.createOrUpdate(own, ConfigMap, key, { mutate: nothing }),
        () => client.createOrPatch(own, ConfigMap, key, { mutate: nothing }),
        () => client.addFinalizer(own, ConfigMap, object as never, 'example.com/a'),
        () => client.removeFinalizer(own, ConfigMap, object as never, 'example.com/a'),
        () => client.applyIfChanged(own, ConfigMap, object as never, { fieldOwner: 'me' }),
        () => operations.childrenOf(own, object, [ConfigMap]),
        () => operations.drain(own, 'a', { clock, signal: AbortSignal.abort(), force: true }),
        () => operations.cordon?.(own, 'a'),
        async () => {
          for await (const _each of client.listAll(own, ConfigMap)) break;
        },
      ];
      for (const call of calls) await attempt(call);
      stage.end();
      await attempt(() => client.waitFor(own, ConfigMap, key, { until: client.exists(), clock, signal }));
    },
  },
  {
    name: 'a client and a cache behind a delegating client',
    part: { ...goodClient, isCached: () => true, resourceVersionOf: () => '1' },
    play: async ({ attempt, signal }, own: never) => {
      for (const parts of [
        { client: own, cache: createCache({ client: own }) },
        { client: goodClient as never, cache: own },
      ])
        await attempt(async () => await callAll(attempt, createDelegatingClient(parts), signal));
    },
  },
  {
    name: 'functions that clients call',
    part: { mutate: nothing, until: () => true, isRetriable: () => false, condition: () => true, attemptOnce: () => 1 },
    play: async (stage, part: object) => {
      const { mutate, until, isRetriable, condition, attemptOnce } = functionsOf(part, [
        'mutate',
        'until',
        'isRetriable',
        'condition',
        'attemptOnce',
      ]) as Readonly<
        Record<
          | 'mutate'
          | 'until'
          | 'isRetriable'
          | 'condition'
          | 'attemptOnce'
          | 'add'
          | 'onAdd'
          | 'accepts'
          | 'index'
          | 'defaulter'
          | 'handle',
          never
        >
      >;
      const { attempt, clock } = stage;
      const own = goodClient as never;
      const fails = failing as never;
      await attempt(() => client.createOrUpdate(own, ConfigMap, key, { mutate }));
      await attempt(() => client.createOrPatch(own, ConfigMap, key, { mutate }));
      await attempt(() => wait.retry(fails, { isRetriable, clock, maxAttempts: 1 }));
      const options = { clock, interval: 1, timeoutMs: 1, signal: AbortSignal.abort(new Error('the test has ended')) };
      await attempt(() => wait.poll(attemptOnce, options));
      await attempt(() => wait.waitUntil(condition, options));
      await attempt(() =>
        client.waitFor(own, ConfigMap, key, {
          until,
          clock,
          signal: AbortSignal.abort(new Error('the test has ended')),
        }),
      );
    },
  },
];
async function* bytes(text: string): AsyncGenerator<Buffer[]> {
  yield await Promise.resolve([Buffer.from(text)]);
}
export async function callAll(attempt: Stage['attempt'], own: client.Client, signal: AbortSignal): Promise<void> {
  const draft = structuredClone(object) as never;
  const calls: readonly (() => unknown)[] = [
    () => own.get(ConfigMap, key),
    () => own.list(ConfigMap, { namespace: 'default' }),
    () => own.create(ConfigMap, draft),
    () => own.update(ConfigMap, draft),
    () => own.patch(ConfigMap, key, client.mergePatch({})),
    () => own.delete(ConfigMap, key),
    () => own.deleteAllOf(ConfigMap, { namespace: 'default' }),
    () => own.status(ConfigMap).update(draft),
    () => own.subResource(ConfigMap, 'scale').get(key),
    async () => {
      if (!('watch' in own) || typeof own.watch !== 'function') return;
      const stream = (await Reflect.apply(own.watch, own, [ConfigMap, { signal }])) as
        | Partial<AsyncIterable<unknown>>
        | undefined;
      stream?.[Symbol.asyncIterator]?.();
    },
  ];
  for (const call of calls) await attempt(call);
}
