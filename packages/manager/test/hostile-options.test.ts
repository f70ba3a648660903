import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '@kctl/wait';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createManager, ping } from '../src/index.js';
import type { HealthCheck, Manager } from '../src/index.js';
import { createHealthHandler } from '../src/health.js';
import { fakeCluster } from './fakes.js';

const make = (options: object = {}): Manager => createManager({ cluster: fakeCluster(), ...options });

describe('createManager', () => {
  it.each([
    [{ leaderElection: {} }, 'leaderElection.newElector is not set'],
    [{ leaderElection: { onLost: 'exit' } }, 'leaderElection.newElector is not set'],
    [{ leaderElection: { newElector: 5 } }, 'leaderElection.newElector is not set'],
    [{ leaderElection: true }, 'leaderElection true is not valid: expected an object of options'],
    [{ scheduleStore: {} }, 'scheduleStore has no method load, save'],
    [{ health: 8081 }, 'health 8081 is not valid: expected an object of options'],
    [{ health: null }, 'health null is not valid: expected an object of options'],
    [{ health: {} }, 'health.port undefined is not valid'],
    [{ health: { port: 0, livenessPath: 'healthz' } }, 'health.livenessPath "healthz" is not valid'],
    [{ health: { port: 0, livenessPath: '/' } }, 'health.livenessPath "/" is not valid'],
    [{ health: { port: 0, readinessPath: '/healthz' } }, 'health.readinessPath "/healthz" is the liveness path, too'],
    [{ profiling: {} }, 'profiling.port undefined is not valid'],
    [{ gracefulShutdownTimeoutMs: '-5' }, 'gracefulShutdownTimeoutMs "-5" is not valid'],
  ])('refuses %o by name', (options, problem) => {
    expect(() => make(options)).toThrow(`createManager: ${problem}`);
  });

  it.each([[undefined], [null]])('asks for options instead of %o', (options) => {
    expect(() => createManager(options as never)).toThrow('createManager: expected options');
  });
});

describe('a manager', () => {
  it.each([
    [undefined, 'undefined'],
    [{}, 'a value of type object'],
    [Promise.resolve({}), 'a promise'],
  ])('does not lead by the elector %o', async (elector, shown) => {
    const manager = make({ leaderElection: { newElector: () => elector } });
    let didRun = false;
    manager.add(async () => void (didRun = true));
    await expect(manager.run(new AbortController().signal)).rejects.toThrow(
      `leaderElection.newElector returned ${shown}: expected an elector, which has run(signal)`,
    );
    await expect(manager.elected).rejects.toThrow();
    expect(didRun).toBe(false);
  });

  it.each<[name: string, sources: () => unknown, message: string]>([
    ['that throws', () => JSON.parse('{'), 'reader failed: '],
    ['that holds no sources', () => [null], 'reader failed: sources()[0] is null: expected { isRequired, kind'],
    ['that is no list', () => 5, 'reader failed: '],
  ])('names the runnable with a list of sources %s, before and after the start', async (_, sources, message) => {
    const runnable = { name: 'reader', run: async () => undefined, sources };
    const before = make();
    before.add(runnable as never);
    await expect(before.run(new AbortController().signal)).rejects.toThrow(message);
    const after = make();
    const running = after.run(new AbortController().signal);
    await after.elected;
    after.add(runnable as never);
    await expect(running).rejects.toThrow(message);
  });

  it.each([[undefined], [null], ['x'], [{}], [{ run: 5 }], [Promise.resolve()]])('does not take %o to run', (given) => {
    expect(() => make().add(given as never)).toThrow('manager.add: the runnable is not valid');
  });

  it('does not take a group that it does not have', () => {
    const runnable = { run: async () => undefined, group: 'leaders' };
    expect(() => make().add(runnable as never)).toThrow('manager.add: group "leaders" is not valid');
  });

  it.each([['no'], [0], [null]])('does not take needLeaderElection %o for yes or no', (needLeaderElection) => {
    const runnable = { run: async () => undefined, needLeaderElection };
    expect(() => make().add(runnable as never)).toThrow(/manager.add: needLeaderElection .* is not valid/);
  });

  it.each([
    ['warmup', 5],
    ['waitForReady', {}],
    ['sources', []],
    ['setPaused', true],
    ['name', 5],
    ['leaderElectionScope', null],
  ])('does not take a runnable whose %s is %o', (field, value) => {
    const runnable = { run: async () => undefined, [field]: value };
    expect(() => make().add(runnable as never)).toThrow(`manager.add: ${field}`);
  });

  it.each<[name: unknown, check: unknown, problem: string]>([
    ['ready', 5, 'the health check "ready" is not valid'],
    ['', ping, 'a health check needs a name'],
    [undefined, ping, 'a health check needs a name: undefined'],
  ])('does not take the check %o: %o', (name, check, problem) => {
    expect(() => make().addReadyzCheck(name as never, check as never)).toThrow(problem);
    expect(() => make().addHealthzCheck(name as never, check as never)).toThrow(problem);
  });

  it.each([[undefined], [null], [{}]])('refuses to run with the signal %o, and can run after that', async (signal) => {
    const manager = make();
    await expect(manager.run(signal as never)).rejects.toThrow('manager.run needs an AbortSignal');
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    stop.abort();
    await done;
  });
});

describe('a health check', () => {
  const hostile: Readonly<Record<string, readonly [check: unknown, reason: string]>> = {
    'returns false': [() => false, 'the check returned false'],
    'resolves with false': [async () => false, 'the check returned false'],
    'returns an error': [() => new Error('not yet'), 'not yet'],
    'throws nothing': [() => ({ then: (_: unknown, reject: () => void) => reject() }), 'failed without a reason'],
    'returns a thenable that rejects': [
      () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('late')) }),
      'late',
    ],
    'returns a thenable that throws': [
      () => ({
        then: () => {
          throw new Error('at once');
        },
      }),
      'at once',
    ],
    'returns a thenable that never settles': [() => ({ then: () => undefined }), 'has not answered within 20 ms'],
  };

  it.each(Object.entries(hostile))('that %s has failed', async (_, [check, reason]) => {
    const failures: string[] = [];
    const handle = createHealthHandler({
      path: '/readyz',
      checks: new Map([['mine', check as HealthCheck]]),
      onFailure: (_name, error) => failures.push(String(error)),
      checkTimeoutMs: 20,
      clock: systemClock,
    });
    const statuses: number[] = [];
    for (const url of ['/readyz', '/readyz/mine', '/readyz/%6Dine']) {
      const response = { writeHead: (status: number) => statuses.push(status), end: () => undefined };
      expect(await handle({ url } as IncomingMessage, response as unknown as ServerResponse)).toBe(true);
    }
    expect(statuses).toEqual([500, 500, 500]);
    expect(failures[0]).toContain(reason);
  });
});

describe('a manager whose logger and metrics fail, or are stubs', () => {
  const boom = (): never => {
    throw new Error('the sink is broken');
  };
  it.each<[string, object]>([
    ['a logger that throws', { logger: { info: boom, debug: boom, warn: boom, error: boom, child: boom } }],
    ['a logger with one method', { logger: { info: () => undefined } }],
    ['metrics that throw', { metrics: { counter: boom, gauge: boom, histogram: boom, onCollect: boom } }],
    ['metrics with one method', { metrics: { onCollect: () => () => undefined } }],
  ])('runs and stops with %s', async (_, sinks) => {
    const manager = make(sinks);
    const stop = new AbortController();
    let runs = 0;
    manager.add(async () => void runs++);
    manager.schedule({ name: 'sweep', every: '1h', runAtStart: true, run: () => void runs++ });
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    stop.abort();
    await done;
    expect(runs).toBe(2);
  });
});
