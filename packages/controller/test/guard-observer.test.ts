import { describe, expect, it } from 'vitest';
import { createRecordingLogger } from './recording-logger.js';
import { guardObserver, type ReconcileObserver } from '../src/observer.js';

const run = {} as never;

describe('an observer', () => {
  it('sees what it is called with, and gives its own tally', () => {
    const calls: unknown[] = [];
    const tally = { requests: 7 };
    const logger = createRecordingLogger();
    const observer: ReconcileObserver = {
      queued: (...given) => void calls.push(['queued', ...given]),
      started: (...given) => {
        calls.push(['started', ...given]);
        return tally;
      },
      settled: (...given) => void calls.push(['settled', ...given]),
      ended: (...given) => void calls.push(['ended', ...given]),
    };
    const guarded = guardObserver(observer, logger);
    guarded.queued('c', 'k', {});
    expect(guarded.started('c', 'k', run)).toBe(tally);
    guarded.settled(tally, run);
    guarded.ended?.('c');
    expect(calls).toEqual([
      ['queued', 'c', 'k', {}],
      ['started', 'c', 'k', run],
      ['settled', tally, run],
      ['ended', 'c'],
    ]);
    const { ended: _ended, ...without } = observer;
    guardObserver(without, logger).ended?.('c');
    expect(logger.lines).toEqual([]);
  });

  const broken = (): never => {
    throw new Error('broken');
  };
  it.each<keyof ReconcileObserver>(['queued', 'started', 'settled', 'ended'])(
    'that fails in %s is logged once, and ends nothing',
    (name) => {
      const logger = createRecordingLogger();
      const whole = { queued: () => undefined, started: () => ({ requests: 0 }), settled: () => undefined };
      const guarded = guardObserver({ ...whole, [name]: broken }, logger);
      for (let round = 0; round < 2; round++) {
        guarded.queued('c', 'k', {});
        expect(guarded.started('c', 'k', run)).toEqual({ requests: 0 });
        guarded.settled({ requests: 0 }, run);
        guarded.ended?.('c');
      }
      expect(logger.lines.map(({ message }) => message)).toEqual([
        'the observer failed, what it misses is not recorded',
      ]);
    },
  );

  it.each([undefined, null, 5, {}])('whose tally is %o has its requests counted apart', (tally) => {
    const logger = createRecordingLogger();
    const observer = { queued: () => undefined, started: () => tally as never, settled: () => undefined };
    expect(guardObserver(observer, logger).started('c', 'k', run)).toEqual({ requests: 0 });
    expect(String(logger.lines[0]?.fields['error'])).toContain('is not a tally');
  });

  it('may fail together with the logger', () => {
    const logger = { ...createRecordingLogger(), error: broken };
    const observer = { queued: broken, started: broken, settled: broken };
    expect(() => guardObserver(observer, logger).queued('c', 'k', {})).not.toThrow();
  });
});
