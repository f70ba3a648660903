// Parts of managers.
import * as manager from '@kctl/manager';
import { type Scenario, type Stage } from './play.js';
import { nothing, stored, listed, goodClient, runnable, goodInformer, withName, functionsOf } from './kit.js';

export const managers: readonly Scenario[] = [
  {
    name: 'a runnable',
    part: {
      run: async (signal: AbortSignal) =>
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      waitForReady: async () => await Promise.resolve(),
      sources: () => [],
      accessNeeds: () => [],
      waitUntilCold: async () => await Promise.resolve(),
      setPaused: nothing,
      adopt: nothing,
      warmup: async () => await Promise.resolve(),
    },
    play: async (stage, part: object) => {
      const own = managed(stage, {});
      await stage.attempt(() => own.add(withName(part, 'mine') as never));
      await stage.attempt(() => own.accessNeeds());
      await stage.attempt(() => own.pause());
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'a cache of a manager',
    part: { ...cacheOf(), informers: () => [], namespacesFor: nothing },
    play: async (stage, cache) => {
      const own = managed(stage, {}, cache);
      await stage.attempt(() => own.accessNeeds());
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'an elector',
    part: {
      run: async (signal: AbortSignal) =>
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      checkHealth: nothing,
      abandon: nothing,
    },
    play: async (stage, elector) => {
      const own = managed(stage, { leaderElection: { newElector: () => elector } });
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'functions of a manager',
    part: { newElector: () => ({ run: async () => await Promise.resolve() }), accessNeeds: () => [], needs: () => [] },
    play: async (stage, part: object) => {
      const { newElector, accessNeeds, needs } = functionsOf(part, ['newElector', 'accessNeeds', 'needs']);
      const own = managed(stage, { leaderElection: { newElector, accessNeeds: needs }, accessNeeds });
      await stage.attempt(() => own.accessNeeds());
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
  {
    name: 'a schedule and its store',
    part: {
      load: async () => await Promise.resolve(undefined),
      save: async () => await Promise.resolve(),
      run: async () => await Promise.resolve(),
      read: async () => await Promise.resolve(undefined),
      write: async () => await Promise.resolve(),
    },
    play: async (stage, part: object) => {
      const own = managed(stage, { scheduleStore: part });
      await stage.attempt(() => own.schedule({ name: 's', every: '1s', run: Reflect.get(part, 'run') }));
      await runnable(own, stage, (signal) => own.run(signal));
    },
  },
];
function cacheOf(): object {
  return {
    run: async (signal: AbortSignal) =>
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    waitForSync: async () => await Promise.resolve(),
    informer: async () => await Promise.resolve(goodInformer),
    ...{ get: stored, list: listed },
  };
}
function managed({ clock, logger }: Stage, options: object, cache: unknown = cacheOf()): manager.Manager {
  const parts = { client: goodClient, apiReader: goodClient, cache };
  return manager.createManager({ cluster: manager.createCluster(parts as never), clock, logger, ...options });
}
