import { getEventListeners } from 'node:events';
import { noopLogger, type Logger, type Span } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { ReconcileRun } from './reconcile-run.js';

function createRun(timeoutMs = 0, span?: Span) {
  const stop = new AbortController();
  const clock = new FakeClock();
  const ids: string[] = [];
  const makeLogger = (id: string): Logger => {
    ids.push(id);
    return { ...noopLogger };
  };
  const facts = { attempt: 2, isLastAttempt: true, priority: 3, reasons: ['why'] };
  const run = new ReconcileRun({ ...facts, stopSignal: stop.signal, makeLogger, clock, timeoutMs }, span);
  return { stop, clock, run, ids, facts, listeners: () => getEventListeners(stop.signal, 'abort').length };
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

describe('a run', () => {
  it('has one id, one logger with it, and what it was made with', () => {
    const { run, ids, facts } = createRun();
    expect(run).toMatchObject(facts);
    expect(run.logger).toBe(run.logger);
    expect([ids, run.reconcileId]).toEqual([[run.reconcileId], run.reconcileId]);
    expect(createRun().run.reconcileId).not.toBe(run.reconcileId);
  });

  it.each([false, true])('is superseded once, whether its signal was read before: %s', (isRead) => {
    const { run } = createRun();
    if (isRead) expect(run.superseded.aborted).toBe(false);
    expect(run.isSuperseded).toBe(false);
    run.markSuperseded();
    const { superseded } = run;
    const { reason } = superseded;
    run.markSuperseded();
    expect([run.isSuperseded, superseded.aborted, superseded.reason, run.signal.aborted]).toEqual([
      true,
      true,
      reason,
      false,
    ]);
    expect(reason).toMatchObject({ name: 'AbortError', message: 'a newer event for this request arrived' });
  });

  it('has a signal that is aborted if it is read after the stop or the timeout', async () => {
    const stopped = createRun();
    const reason = new Error('stop');
    stopped.stop.abort(reason);
    expect([stopped.run.signal.reason, stopped.listeners()]).toEqual([reason, 0]);
    const late = createRun(100);
    await late.clock.advance(99);
    expect([late.run.hasTimedOut, late.clock.pendingTimers]).toEqual([false, 1]);
    await late.clock.advance(1);
    expect(late.run.signal.reason).toMatchObject({ name: 'ReconcileTimeoutError', timeoutMs: 100 });
  });

  it('has no timer without a timeout, and none after its end', () => {
    expect(createRun().clock.pendingTimers).toBe(0);
    const { run, clock } = createRun(100);
    run.end();
    expect(clock.pendingTimers).toBe(0);
  });

  it('loses no more than its span if the tracer fails', () => {
    const calls: string[] = [];
    const fail = (name: string) => (): never => {
      calls.push(name);
      throw new Error('the tracer is broken');
    };
    const { run } = createRun(0, { setAttributes: fail('set'), recordError: fail('error'), end: fail('end') });
    run.span.setAttributes({});
    run.span.recordError(new Error('x'));
    run.span.end();
    expect(calls).toEqual(['set', 'error', 'end']);
    expect(() => createRun().run.span.end()).not.toThrow();
  });
});
