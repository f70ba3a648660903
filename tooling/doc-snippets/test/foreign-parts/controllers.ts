// Parts of controllers.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import * as controller from '@kctl/controller';
import { createPrometheusMetrics } from '@kctl/metrics';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import * as workqueue from '@kctl/workqueue';
import { type Scenario } from './play.js';
import { object } from '../parts.js';
import { nothing, reconcile, failing, oneEvent, request, goodInformer, withName, functionsOf } from './kit.js';

export const controllers: readonly Scenario[] = [
  {
    name: 'functions of a controller',
    part: {
      reconciler: async () => await Promise.resolve(undefined),
      requestKey: () => 'a',
      logFields: () => ({}),
      random: () => 0.5,
      onError: nothing,
      newQueue: (options: never) => workqueue.createPriorityQueue(options),
    },
    play: async (stage, part: Readonly<Record<string, unknown>>) => {
      const { reconciler, requestKey, logFields, random, onError, newQueue } = part;
      await reconcile(stage, { reconciler, requestKey, logFields, random, newQueue });
      await reconcile(stage, { reconciler: failing, onError, random });
    },
  },
  {
    name: 'a retry policy',
    part: { decide: () => ({ type: 'backoff' }) },
    play: async (stage, retryPolicy) => await reconcile(stage, { reconciler: failing, retryPolicy }),
  },
  {
    name: 'a rate limiter of a controller',
    part: { when: () => 900, forget: nothing, numRequeues: () => 0, adoptKey: nothing },
    play: async (stage, rateLimiter) => await reconcile(stage, { reconciler: failing, rateLimiter }),
  },
  {
    name: 'a tracer',
    part: {
      withSpan: async (_name: string, _attributes: object, work: (span: object) => Promise<unknown>) => await work({}),
    },
    play: async (stage, tracer) => await reconcile(stage, { tracer }),
  },
  {
    name: 'a span',
    part: { setAttributes: nothing, recordError: nothing, end: nothing },
    play: async (stage, span) =>
      await reconcile(stage, {
        reconciler: failing,
        tracer: {
          withSpan: async (_name: string, _attributes: object, work: (span: object) => Promise<unknown>) =>
            await work(span),
        },
      }),
  },
  {
    name: 'an observer',
    part: { queued: nothing, started: () => ({ requests: 0 }), settled: nothing },
    play: async (stage, observer) => await reconcile(stage, { observer }),
  },
  {
    name: 'a request counter',
    part: { run: (_tally: object, call: (...args: unknown[]) => unknown, ...args: unknown[]) => call(...args) },
    play: async (stage, requestCounter) =>
      await reconcile(stage, { requestCounter, metrics: createPrometheusMetrics() }),
  },
  {
    name: 'metrics',
    part: noopMetrics,
    play: async (stage, metrics) => await reconcile(stage, { metrics }),
  },
  {
    name: 'a logger',
    part: noopLogger,
    play: async (stage, logger) => await reconcile(stage, { logger, reconciler: failing }),
  },
  {
    name: 'a source',
    part: {
      start: async () => await Promise.resolve({ waitForSync: async () => await Promise.resolve(), stop: nothing }),
    },
    play: async (stage, source: object) => await reconcile(stage, {}, withName(source, 'mine') as never),
  },
  {
    name: 'a started source',
    part: { waitForSync: async () => await Promise.resolve(), stop: nothing, replay: nothing },
    play: async (stage, started) =>
      await reconcile(stage, {}, { name: 'mine', start: async () => await Promise.resolve(started) }),
  },
  {
    name: 'a provider of informers',
    part: { informer: async () => await Promise.resolve(goodInformer) },
    play: async (stage, informers) =>
      await reconcile(
        stage,
        {},
        controller.kindSource({ kind: ConfigMap, informers, handler: controller.enqueueRequestForObject() }) as never,
      ),
  },
  {
    name: 'a provider that lends informers',
    part: {
      informer: async () => await Promise.resolve(goodInformer),
      acquire: () => ({ informer: goodInformer, [Symbol.asyncDispose]: async () => await Promise.resolve() }),
    },
    play: async (stage, informers) =>
      await reconcile(
        stage,
        {},
        controller.kindSource({ kind: ConfigMap, informers, handler: controller.enqueueRequestForObject() }) as never,
      ),
  },
  {
    name: 'an informer',
    part: goodInformer,
    play: async (stage, own) =>
      await reconcile(
        stage,
        {},
        controller.informerSource({ informer: own, handler: controller.enqueueRequestForObject() }) as never,
      ),
  },
  {
    name: 'a registration',
    part: { waitForSync: async () => await Promise.resolve(), remove: nothing },
    play: async (stage, registration) =>
      await reconcile(
        stage,
        {},
        controller.informerSource({
          informer: { addEventHandler: () => registration },
          handler: controller.enqueueRequestForObject(),
        }) as never,
      ),
  },
  {
    name: 'a func source',
    part: { start: nothing },
    play: async (stage, { start }: { readonly start: () => Promise<void> }) =>
      await reconcile(stage, {}, controller.funcSource('f', start as never)),
  },
  {
    name: 'functions of a polling source',
    part: { poll: async () => await Promise.resolve([object]), identify: () => 'a', isSame: () => true },
    play: async (stage, part: object) =>
      await reconcile(
        stage,
        {},
        controller.pollingSource({
          name: 'p',
          everyMs: 500,
          handler: controller.enqueueRequestForObject(),
          ...functionsOf(part, ['poll', 'identify', 'isSame']),
        } as never),
      ),
  },
  {
    name: 'functions of a source that polls for each object',
    part: { poll: async () => await Promise.resolve({ a: 1 }), isSame: () => true, everyMs: () => 100 },
    play: async (stage, part: object) =>
      await reconcile(
        stage,
        {},
        controller.pollEachSource({
          name: 'p',
          everyMs: 500,
          kind: ConfigMap,
          informers: { informer: async () => await Promise.resolve(goodInformer) },
          ...functionsOf(part, ['poll', 'isSame']),
        } as never),
      ),
  },
  {
    name: 'a handler, a map function and a predicate',
    part: { handler: nothing, map: () => [request], predicate: () => true, filter: () => true },
    play: async (stage, part: object) => {
      const { handler, map, predicate, filter } = functionsOf(part, ['handler', 'map', 'predicate', 'filter']);
      const one = controller.predicateFuncs({ generic: predicate as never });
      const two = controller.objectPredicate(filter as never);
      const all = [predicate as never, controller.and(one), controller.not(one), controller.or(one, two)];
      await reconcile(stage, {}, oneEvent(handler as never, all));
      await reconcile(stage, {}, oneEvent(controller.enqueueRequestsFromMapFunc(map as never) as never, all));
      await reconcile(stage, {}, oneEvent(controller.handlerFuncs({ generic: handler as never }) as never));
    },
  },
];
