// Pausing the whole operator: nothing new begins, nothing is lost, and what belongs to the process goes on.
import { createController, createEventChannel, channelSource, enqueueRequestsFromMapFunc } from '@kctl/controller';
import { createPrometheusMetrics } from '@kctl/metrics';
import { FakeClock, settle } from '@kctl/wait/testing';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManager } from '../src/index.js';
import { fakeCluster } from './fakes.js';

const minute = 60_000;

function setUp() {
  const clock = new FakeClock();
  const registry = new Registry();
  const metrics = createPrometheusMetrics({ registry });
  const manager = createManager({ cluster: fakeCluster(), clock, metrics });
  const channel = createEventChannel<string>();
  const runs: string[] = [];
  const gate: { open: Promise<unknown> } = { open: Promise.resolve() };
  const controllerOf = (name: string) => {
    const controller = createController({
      name,
      reconciler: async (request) => {
        runs.push(request.name);
        await gate.open;
      },
    });
    controller.watch(
      channelSource({
        name,
        events: channel,
        handler: enqueueRequestsFromMapFunc((event: string) => [{ name: event }]),
      }),
    );
    return controller;
  };
  const stop = new AbortController();
  const start = async (): Promise<void> => {
    const running = manager.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
    });
    await settle();
  };
  const paused = async (): Promise<number | undefined> => {
    const { values } = (await registry.getSingleMetric('kctl_manager_paused')?.get()) ?? { values: [] };
    return values[0]?.value;
  };
  return { clock, manager, channel, runs, gate, controllerOf, start, paused, stop };
}

describe('a manager that is paused', () => {
  it('lets what runs end, starts nothing further, and goes on with everything that came meanwhile', async () => {
    const t = setUp();
    const controller = t.controllerOf('one');
    t.manager.add(controller);
    await t.start();
    const running = Promise.withResolvers<undefined>();
    t.gate.open = running.promise;
    t.channel.send('a');
    await settle();
    t.manager.pause();
    t.manager.pause();
    t.channel.send('b');
    t.channel.send('c');
    t.channel.send('b');
    await settle();
    expect([t.runs, controller.inFlight, t.manager.isPaused, await t.paused()]).toEqual([['a'], ['a'], true, 1]);
    running.resolve(undefined);
    await settle();
    expect([t.runs, controller.inFlight]).toEqual([['a'], []]);
    // A limit that is changed meanwhile holds afterwards.
    controller.maxConcurrentReconciles = 2;
    await settle();
    expect([t.runs, controller.maxConcurrentReconciles]).toEqual([['a'], 2]);
    t.manager.resume();
    await settle();
    expect([t.runs.toSorted(), t.manager.isPaused, await t.paused()]).toEqual([['a', 'b', 'c'], false, 0]);
  });

  it('counts what comes meanwhile as waiting, also where nothing ran when it was paused', async () => {
    const t = setUp();
    const controller = t.controllerOf('one');
    t.manager.add(controller);
    await t.start();
    t.manager.pause();
    for (const event of ['a', 'b', 'c']) t.channel.send(event);
    await settle();
    expect([t.runs, controller.queueLength, controller.inFlight]).toEqual([[], 3, []]);
    t.manager.resume();
    await settle();
    expect([t.runs.toSorted(), controller.queueLength]).toEqual([['a', 'b', 'c'], 0]);
  });

  it('is so from the start, also for what is added later, and stops like any other', async () => {
    const t = setUp();
    t.manager.pause();
    const broken = (): never => {
      throw new Error('broken');
    };
    t.manager.add({ name: 'broken', setPaused: broken, run: () => Promise.resolve() });
    const rejects = (): never => Promise.reject(new Error('broken')) as never;
    t.manager.add({ name: 'broken, too', setPaused: rejects, run: () => Promise.resolve() });
    t.manager.add(t.controllerOf('early'));
    await t.start();
    t.manager.add(t.controllerOf('late'));
    t.channel.send('a');
    await settle();
    expect(t.runs).toEqual([]);
    expect(t.manager.isLeader).toBe(true);
  });

  it('lets go of what is removed meanwhile: added again after the pause, it works', async () => {
    const t = setUp();
    const controller = t.controllerOf('one');
    const handle = t.manager.add(controller);
    await t.start();
    t.manager.pause();
    t.channel.send('a');
    await settle();
    await handle.remove();
    expect(t.runs).toEqual([]);
    t.manager.resume();
    t.manager.add(controller);
    t.channel.send('b');
    await settle();
    expect(t.runs).toEqual(['b']);
  });

  it('runs of each schedule, after it is resumed, the last that came due meanwhile', async () => {
    const t = setUp();
    const due: string[] = [];
    const run = ({ dueAt }: { readonly dueAt: number }): void =>
      void due.push(new Date(dueAt).toISOString().slice(11, 16));
    t.manager.schedule({ name: 'often', cron: '*/10 * * * *', run });
    await t.start();
    await t.clock.advance(10 * minute);
    t.manager.pause();
    await t.clock.advance(35 * minute);
    expect(due).toEqual(['00:10']);
    t.manager.resume();
    await settle();
    expect(due).toEqual(['00:10', '00:40']);
    await t.clock.advance(5 * minute);
    expect(due).toEqual(['00:10', '00:40', '00:50']);
  });
});
