// Parts of stores, informers and events.
import type { KubeObject } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createBoundedStore, createExpiringCache, createIndexer } from '@kctl/cache-index';
import { createEventBroadcaster } from '@kctl/events';
import * as informer from '@kctl/informer';
import { type Scenario } from './play.js';
import { object } from '../parts.js';
import { nothing, stored, goodClient, runnable, failing, functionsOf } from './kit.js';

export const stores: readonly Scenario[] = [
  {
    name: 'index functions',
    part: { index: () => ['a'], path: () => 'a' },
    play: async ({ attempt }, { index }: { readonly index: () => string[] }) => {
      await attempt(() => {
        const own = createIndexer<KubeObject>({ indexers: { a: index } });
        own.put(object);
        own.byIndex('a', 'a');
      });
    },
  },
  {
    name: 'what a bounded store and an expiring cache read with',
    part: { read: stored, load: stored },
    play: async ({ attempt, clock }, { read }: { readonly read: () => Promise<never> }) => {
      const own = createBoundedStore<KubeObject>({ maxObjects: 1, read });
      await attempt(() => own.get('default/a'));
      const expiring = createExpiringCache({ clock });
      await attempt(() => Reflect.get(expiring, 'size'));
    },
  },
  {
    name: 'a lister-watcher',
    part: {
      list: goodClient.list,
      watch: async (call: { readonly signal: AbortSignal }) => await goodClient.watch(undefined, call),
    },
    play: async (stage, listerWatcher) => {
      const { clock, logger } = stage;
      const own = informer.createSharedInformer({ kind: ConfigMap, listerWatcher, clock, logger });
      own.addEventHandler({ onEvent: nothing });
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'functions of an informer',
    part: {
      transform: (given: object) => given,
      watchErrorHandler: nothing,
      onHandlerError: nothing,
      add: () => true,
      onAdd: nothing,
      accepts: () => true,
      index: () => ['a'],
    },
    play: async (stage, part: object) => {
      const { clock, logger } = stage;
      const { add, onAdd, accepts, index, ...hooks } = functionsOf(part, [
        'transform',
        'watchErrorHandler',
        'onHandlerError',
        'add',
        'onAdd',
        'accepts',
        'index',
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
      const listerWatcher = { list: goodClient.list, watch: failing, supportsWatchList: false };
      const own = informer.createSharedInformer({
        kind: ConfigMap,
        listerWatcher,
        clock,
        logger,
        indexers: { a: index },
        ...hooks,
      } as never);
      own.addEventHandler({ onAdd }, { filters: { add } });
      own.addEventHandler(informer.filterEvents(accepts, { onAdd }));
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'the store of a reflector',
    part: { add: nothing, update: nothing, delete: nothing, replace: nothing, resync: nothing, bookmark: nothing },
    play: async (stage, store) => {
      const { clock, logger } = stage;
      const listerWatcher = { list: goodClient.list, watch: goodClient.watch, supportsWatchList: false };
      const own = informer.createReflector({ kind: ConfigMap, listerWatcher, store, clock, logger } as never);
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'the client of a broadcaster',
    part: { create: stored, patch: stored, update: stored },
    play: async (stage, own) => {
      const { clock, logger } = stage;
      const broadcaster = createEventBroadcaster({ client: own, clock, logger });
      const recorder = broadcaster.recorder('me');
      await stage.attempt(() => recorder.event(object, { type: 'Normal', reason: 'A', note: 'a' }));
      await runnable(broadcaster, stage, (signal) => broadcaster.run(signal));
    },
  },
];
