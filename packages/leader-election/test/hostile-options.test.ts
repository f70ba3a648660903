import { FakeClock } from '@kctl/wait/testing';
import type { Metrics } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import { createLeaderElector, createLeaseLock, createWorkerLeaderElector } from '../src/index.js';
import type { LeaderElectionRecord, ResourceLock } from '../src/index.js';

const observe = async (record: LeaderElectionRecord) => ({ record, fingerprint: JSON.stringify(record) });
const lock: ResourceLock = {
  identity: 'a',
  description: 'lease default/test',
  get: async () => undefined,
  create: observe,
  update: observe,
};
const callbacks = { onStartedLeading: () => undefined };

describe('an election', () => {
  it.each([
    [{ leaseDuration: 5 }, 'unknown option "leaseDuration": did you mean "leaseDurationMs"?'],
    [{ reElect: true }, 'unknown option "reElect": did you mean "reelect"?'],
    [
      { callbacks: { ...callbacks, onnewleader: () => undefined } },
      'unknown option "callbacks.onnewleader": did you mean "onNewLeader"?',
    ],
    [{ callbacks: { ...callbacks, onNewLeader: 5 } }, 'callbacks.onNewLeader is not a function'],
  ])('refuses %o by name, in either thread', (options, problem) => {
    expect(() => createLeaderElector({ lock, callbacks, ...options } as never)).toThrow(
      `createLeaderElector: ${problem}`,
    );
    const worker = { name: 'test', lockModule: 'file:///lock.js', callbacks, ...options };
    expect(() => createWorkerLeaderElector(worker as never)).toThrow(`createWorkerLeaderElector: ${problem}`);
  });

  it('refuses options of a lock that it does not know', () => {
    const lease = { client: {} as never, namespace: 'default', name: 'x', identity: 'a' };
    expect(() => createLeaseLock({ ...lease, lables: {} } as never)).toThrow(
      'unknown option "lables": did you mean "labels"?',
    );
  });

  it.each([
    ['createLeaderElector', createLeaderElector],
    ['createWorkerLeaderElector', createWorkerLeaderElector],
    ['createLeaseLock', createLeaseLock],
  ])('%s asks for options where there are none', (name, create) => {
    expect(() => create(undefined as never)).toThrow(`${name}: expected options, not undefined`);
  });

  it('goes on when its metrics sink throws', async () => {
    const broken = (): never => {
      throw new Error('the sink is broken');
    };
    const child = { inc: broken, dec: broken, set: broken, observe: broken };
    const family = () => ({ ...child, with: () => child, remove: broken });
    const metrics: Metrics = { counter: family, gauge: family, histogram: family, onCollect: broken };
    const clock = new FakeClock();
    const stop = new AbortController();
    let isDown = true;
    const flaky = {
      ...lock,
      get: async () => {
        if (isDown) throw new Error('down');
        return undefined;
      },
    };
    const work = {
      onStartedLeading: (signal: AbortSignal) =>
        new Promise<void>((end) => signal.addEventListener('abort', () => end())),
    };
    const elector = createLeaderElector({ lock: flaky, clock, metrics, callbacks: work });
    const done = elector.run(stop.signal);
    await clock.advance(5_000);
    isDown = false;
    await clock.advance(5_000);
    expect(elector.isLeader).toBe(true);
    stop.abort();
    await clock.advance(5_000);
    await done;
  });
});
