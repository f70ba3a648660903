import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueRuns, parseSchedule } from '../src/controllers/schedule.js';

const at = (time: string): number => Date.parse(`2026-03-01T${time}Z`);
const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString().slice(11, 19);

describe('the runs of a schedule', () => {
  it.each([
    { title: 'none is due', since: '10:00:00', now: '10:00:30', missed: undefined, next: '10:05:00' },
    { title: 'one is due at this moment', since: '10:00:00', now: '10:05:00', missed: '10:05:00', next: '10:10:00' },
    { title: 'one is late', since: '10:00:00', now: '10:07:00', missed: '10:05:00', next: '10:10:00' },
    {
      title: 'of several the last one counts',
      since: '10:00:00',
      now: '11:02:00',
      missed: '11:00:00',
      next: '11:05:00',
    },
    { title: 'the clock was set back', since: '10:00:00', now: '09:01:00', missed: undefined, next: '09:05:00' },
  ])('$title', ({ since, now, missed, next }) => {
    const runs = dueRuns(parseSchedule('*/5 * * * *'), { since: at(since), now: at(now) });
    expect([iso(runs.missed), iso(runs.next)]).toEqual([missed, next]);
  });

  it('are refused where more than 100 were missed', () => {
    const schedule = parseSchedule('* * * * *');
    expect(dueRuns(schedule, { since: at('10:00:00'), now: at('11:40:00') }).missed).toBe(at('11:40:00'));
    expect(() => dueRuns(schedule, { since: at('10:00:00'), now: at('11:41:00') })).toThrow(
      'more than 100 runs were missed since 2026-03-01T10:00:00.000Z: set or decrease spec.startingDeadlineSeconds, or check the clock',
    );
  });

  it('lie on both sides of now, and nothing lies between', () => {
    const schedule = parseSchedule('7,32 */2 * * *');
    const minute = fc.integer({ min: 0, max: 4_000 }).map((minutes) => at('00:00:00') + minutes * 60_000);
    fc.assert(
      fc.property(minute, minute, (one, other) => {
        const [since, now] = [Math.min(one, other), Math.max(one, other)];
        const { missed, next } = dueRuns(schedule, { since, now });
        expect(next).toBeGreaterThan(now);
        expect(missed ?? now).toBeLessThanOrEqual(now);
        expect(schedule.nextRun(new Date(missed ?? since))?.getTime()).toBe(next);
        if (missed !== undefined) expect(missed).toBeGreaterThan(since);
      }),
    );
  });
});
