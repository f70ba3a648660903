import { getEventListeners } from 'node:events';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { ReconcileRun } from './reconcile-run.js';

function createRun(timeoutMs = 0) {
  const stop = new AbortController();
  const clock = new FakeClock();
  const run = new ReconcileRun({
    attempt: 1,
    isLastAttempt: false,
    priority: 0,
    reasons: [],
    stopSignal: stop.signal,
    makeLogger: () => noopLogger,
    clock,
    timeoutMs,
  });
  return { stop, clock, run, listeners: () => getEventListeners(stop.signal, 'abort').length };
}

describe('the signal of a run', () => {
  it('that is read after the run is aborted, and adds no listener', () => {
    const { run, listeners } = createRun();
    run.end();
    expect(run.signal.reason).toMatchObject({ name: 'AbortError', message: 'the reconcile has ended' });
    expect([run.signal.aborted, listeners()]).toEqual([true, 0]);
  });

  it('that was read before stays as it is, and has let go of the stop', () => {
    const { run, stop, listeners } = createRun();
    const { signal } = run;
    expect(listeners()).toBe(1);
    run.end();
    stop.abort();
    expect([signal.aborted, run.signal === signal, listeners()]).toEqual([false, true, 0]);
  });

  it('follows the stop and the timeout while the run lasts', async () => {
    const stopped = createRun();
    const { signal } = stopped.run;
    stopped.stop.abort(new Error('stop'));
    expect(signal.reason).toEqual(new Error('stop'));
    const late = createRun(100);
    await late.clock.advance(100);
    expect([late.run.signal.aborted, late.run.hasTimedOut, late.clock.pendingTimers]).toEqual([true, true, 0]);
  });
});
