import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileResult } from '../src/index.js';
import { createController } from '../src/index.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';

describe('a requeue that is kept', () => {
  const play = (results: (ReconcileResult | Error)[]) => async () => {
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  };
  const scripted = (...results: (ReconcileResult | Error)[]) => createHarness(play(results));
  const version = (resourceVersion: string) => pod('a', { resourceVersion });

  it('stands although an event runs the key before', async () => {
    const t = scripted({ requeueAfterMs: 1000, keep: true });
    await t.start();
    t.pods.add(version('1'));
    await t.clock.advance(400);
    t.pods.update(version('1'), version('2'));
    await t.clock.advance(300);
    t.pods.update(version('2'), version('3'));
    await t.clock.advance(5000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 400, 700, 1000]);
    t.stop.abort();
  });

  it('adds to what later results ask for, the earlier one first', async () => {
    const t = scripted({ requeueAfterMs: 1000, keep: true }, { requeueAfterMs: 2000 }, { requeueAfterMs: 2000 });
    await t.start();
    t.pods.add(version('1'));
    await t.clock.advance(400);
    t.pods.update(version('1'), version('2'));
    await t.clock.advance(10_000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 400, 1000, 3000]);
    t.stop.abort();
  });

  it('survives failures, whose retries count as runs', async () => {
    const t = scripted({ requeueAfterMs: 1000, keep: true }, new Error('x'), new Error('x'));
    await t.start();
    t.pods.add(version('1'));
    await t.clock.advance(400);
    t.pods.update(version('1'), version('2'));
    await t.clock.advance(10_000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 400, 405, 415, 1000]);
    t.stop.abort();
  });

  it.each<{ after: string; result: ReconcileResult | Error }>([
    { after: 'a back-off', result: { backoff: true } },
    { after: 'a failure', result: new Error('x') },
  ])('is not put off by the longer wait after $after', async ({ result }) => {
    const rateLimiter = { when: () => 5000, forget: () => undefined, numRequeues: () => 0 };
    const t = createHarness(play([{ requeueAfterMs: 1000, keep: true }, result, result]), { rateLimiter });
    await t.start();
    t.pods.add(version('1'));
    await t.clock.advance(400);
    t.pods.update(version('1'), version('2'));
    await t.clock.advance(10_000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 400, 1000, 6000]);
    t.stop.abort();
  });
});

describe('runLimit', () => {
  it('defers what comes too early, with its reasons and priority, and drops nothing', async () => {
    const reasons: (readonly string[])[] = [];
    const t = createHarness(async (_request, context) => void reasons.push(context.reasons), {
      runLimit: { runs: 2, perMs: 1000 },
    });
    await t.start();
    const touch = (name: string, resourceVersion: number): void =>
      t.pods.update(
        pod(name, { resourceVersion: String(resourceVersion) }),
        pod(name, { resourceVersion: String(resourceVersion + 1) }),
      );
    for (let change = 0; change < 10; change++) {
      touch('busy', change);
      if (change === 5) touch('calm', change);
      await t.clock.advance(100);
    }
    await t.clock.advance(5000);
    expect(t.runs.map(({ name, at }) => `${name} ${at}`)).toEqual(['busy 0', 'busy 100', 'calm 500', 'busy 1000']);
    expect(reasons.at(-1)).toEqual(['kind source: Pod update default/busy']);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('holds for retries and requeues too', async () => {
    let runs = 0;
    const t = createHarness(
      async () => {
        if (runs++ === 0) throw new Error('x');
        return { requeueAfterMs: 10 };
      },
      { runLimit: { runs: 1, perMs: 300 } },
    );
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(1000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 300, 600, 900]);
    t.stop.abort();
  });

  it('names what is not valid', () => {
    const make = () =>
      createController({ name: 'x', reconciler: async () => undefined, runLimit: { runs: 0.5, perMs: -1 } });
    expect(make).toThrow('runLimit.runs 0.5 is not valid: expected an integer ≥ 1; runLimit.perMs -1 is not valid');
  });
});
