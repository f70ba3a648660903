// Parts of elections.
import * as election from '@kctl/leader-election';
import { type Scenario } from './play.js';
import { key, nothing, runnable } from './kit.js';

export const elections: readonly Scenario[] = [
  {
    name: 'a lock',
    part: {
      get: async () => await Promise.resolve(undefined),
      create: async () => await Promise.reject(new Error('expected by the scenario')),
      update: async () => await Promise.reject(new Error('expected by the scenario')),
    },
    play: async (stage, part: object) => {
      const lock = new Proxy(part, {
        get: (target, name) =>
          name === 'identity' ? 'me' : name === 'description' ? 'lock a' : Reflect.get(target, name),
      });
      const { clock, logger } = stage;
      const elector = election.createLeaderElector({
        ...{ lock: lock as election.ResourceLock, clock, logger, random: () => 0 },
        callbacks: { onStartedLeading: nothing },
      });
      await runnable(elector, stage, (signal) => elector.run(signal));
    },
  },
  {
    name: 'callbacks of an election',
    part: { onStartedLeading: nothing, onStoppedLeading: nothing, onNewLeader: nothing },
    play: async (stage, part: never) => {
      const { clock, logger } = stage;
      const lock = election.createLeaseLock({ client: goodLease() as never, ...key, identity: 'me' });
      const elector = election.createLeaderElector({ lock, clock, logger, callbacks: part, random: () => 0 });
      await runnable(elector, stage, (signal) => elector.run(signal));
    },
  },
  {
    name: 'the client of a lock',
    part: {
      get: async () => await Promise.resolve(lease()),
      create: async () => await Promise.resolve(lease()),
      update: async () => await Promise.resolve(lease()),
    },
    play: async (stage, part: never) => {
      const { clock, logger } = stage;
      const lock = election.createLeaseLock({ client: part, ...key, identity: 'me' });
      const elector = election.createLeaderElector({
        lock,
        clock,
        logger,
        callbacks: { onStartedLeading: nothing },
        random: () => 0,
      });
      await runnable(elector, stage, (signal) => elector.run(signal));
    },
  },
];
function lease(): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...key, resourceVersion: '1', uid: 'u' },
    spec: {},
  };
}
function goodLease(): object {
  const answer = async (): Promise<object> => await Promise.resolve(lease());
  return { get: answer, create: answer, update: answer };
}
