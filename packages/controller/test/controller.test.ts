import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ControllerOptions, ReconcileContext, ReconcileRequest } from '../src/index.js';
import { createController, enqueueRequestForObject, kindSource, lowPriority, terminalError } from '../src/index.js';
import { FakeInformers, Pod, pod } from './fakes.js';

interface Run {
  readonly name: string;
  readonly attempt: number;
  readonly priority: number;
  readonly at: number;
}

function setUp(
  reconcile: (request: ReconcileRequest, context: ReconcileContext) => Promise<unknown>,
  options: Partial<ControllerOptions<ReconcileRequest>> = {},
) {
  const clock = new FakeClock();
  const informers = new FakeInformers();
  const runs: Run[] = [];
  const controller = createController({
    name: 'test',
    clock,
    random: () => 0.5,
    ...options,
    reconciler: async (request, context) => {
      runs.push({ name: request.name, attempt: context.attempt, priority: context.priority, at: clock.monotonicNow() });
      return (await reconcile(request, context)) as undefined;
    },
  });
  controller.watch(kindSource({ informers, kind: Pod, handler: enqueueRequestForObject() }));
  const stop = new AbortController();
  const done = controller.run(stop.signal);
  done.catch(() => undefined);
  const pods = informers.of(Pod);
  return { clock, pods, informers, runs, controller, stop, done };
}

describe('Controller', () => {
  it('reconciles nothing before every initial event was handled', async () => {
    const t = setUp(async () => undefined);
    await settle();
    t.pods.add(pod('a'), true);
    await settle();
    expect(t.runs).toEqual([]);
    t.pods.add(pod('b'), true);
    t.pods.sync();
    await settle();
    expect(t.runs.map(({ name, priority }) => [name, priority])).toEqual([
      ['a', lowPriority],
      ['b', lowPriority],
    ]);
    t.stop.abort();
    await t.done;
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('retries a failure with back-off, keeping its priority, and forgets it on success', async () => {
    let failures = 2;
    const t = setUp(async () => {
      if (failures-- > 0) throw new Error('not today');
    });
    t.pods.sync();
    await settle();
    t.pods.add(pod('a'), true);
    await t.clock.advance(4);
    expect(t.runs.length).toBe(1);
    await t.clock.advance(1);
    expect(t.runs.length).toBe(2);
    await t.clock.advance(10);
    expect(t.runs.map(({ attempt, priority, at }) => [attempt, priority, at])).toEqual([
      [1, lowPriority, 0],
      [2, lowPriority, 5],
      [3, lowPriority, 15],
    ]);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await settle();
    expect(t.runs.at(-1)).toMatchObject({ attempt: 1, priority: 0 });
  });

  it('does not retry a terminal error', async () => {
    const t = setUp(async () => {
      throw terminalError(new Error('never'));
    });
    t.pods.sync();
    await settle();
    t.pods.add(pod('a'));
    await t.clock.advance(10_000_000);
    expect(t.runs.length).toBe(1);
  });

  it('replaces a planned requeue by an event: one slot per key', async () => {
    const t = setUp(async (_request, { attempt }) => {
      expect(attempt).toBe(1);
      return { requeueAfterMs: 1000 };
    });
    t.pods.sync();
    await settle();
    t.pods.add(pod('a'));
    await t.clock.advance(500);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await t.clock.advance(600);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 500]);
    await t.clock.advance(400);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 500, 1500]);
  });
});
