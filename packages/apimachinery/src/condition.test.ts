import { describe, expect, it } from 'vitest';
import type { Condition } from './condition.js';
import { findCondition, isConditionFalse, isConditionTrue, removeCondition, setCondition } from './condition.js';

const now = Date.UTC(2026, 0, 1, 12, 0, 0, 987);
const ready = { type: 'Ready', status: 'True', reason: 'Up', message: 'all up' } as const;

describe('setCondition', () => {
  it('adds a condition with the time, to the second', () => {
    const conditions: Condition[] = [];
    expect(setCondition(conditions, ready, { now })).toBe(true);
    expect(conditions).toEqual([{ ...ready, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  });

  it('changes nothing when set again, however much later', () => {
    const conditions: Condition[] = [];
    setCondition(conditions, ready, { now });
    const before = structuredClone(conditions);
    expect(setCondition(conditions, ready, { now: now + 60_000 })).toBe(false);
    expect(conditions).toEqual(before);
  });

  it('keeps the transition time while only reason, message or generation change', () => {
    const conditions: Condition[] = [];
    setCondition(conditions, ready, { now });
    const later = { now: now + 60_000 };
    expect(setCondition(conditions, { ...ready, message: 'still up' }, later)).toBe(true);
    expect(setCondition(conditions, { ...ready, reason: 'Fine' }, later)).toBe(true);
    expect(setCondition(conditions, { ...ready, observedGeneration: 4 }, later)).toBe(true);
    expect(conditions).toMatchObject([{ lastTransitionTime: '2026-01-01T12:00:00Z', observedGeneration: 4 }]);
  });

  it('moves the transition time with the status, to the given time where there is one', () => {
    const conditions: Condition[] = [];
    setCondition(conditions, ready, { now });
    setCondition(conditions, { ...ready, status: 'False' }, { now: now + 60_000 });
    expect(conditions[0]?.lastTransitionTime).toBe('2026-01-01T12:01:00Z');
    setCondition(conditions, { ...ready, lastTransitionTime: '2025-05-05T05:05:05Z' }, { now });
    expect(conditions[0]?.lastTransitionTime).toBe('2025-05-05T05:05:05Z');
  });

  it('ignores an update that was computed from an older generation', () => {
    const conditions: Condition[] = [];
    setCondition(conditions, { ...ready, observedGeneration: 5 }, { now });
    expect(setCondition(conditions, { ...ready, status: 'False', observedGeneration: 4 }, { now })).toBe(false);
    expect(isConditionTrue(conditions, 'Ready')).toBe(true);
  });

  it('leaves other conditions and the order alone', () => {
    const conditions: Condition[] = [];
    setCondition(conditions, ready, { now });
    setCondition(conditions, { ...ready, type: 'Synced' }, { now });
    setCondition(conditions, { ...ready, status: 'Unknown' }, { now });
    expect(conditions.map(({ type, status }) => [type, status])).toEqual([
      ['Ready', 'Unknown'],
      ['Synced', 'True'],
    ]);
  });
});

describe('reading conditions', () => {
  const list = [
    { type: 'Ready', status: 'False' },
    { type: 'Scheduled', status: 'True', custom: 1 },
  ];

  it('finds by type, in lists of any kind of condition, present or not', () => {
    expect(findCondition(list, 'Scheduled')?.custom).toBe(1);
    expect(isConditionTrue(list, 'Scheduled')).toBe(true);
    expect(isConditionFalse(list, 'Ready')).toBe(true);
    expect(isConditionTrue(list, 'Missing')).toBe(false);
    expect(isConditionFalse(list, 'Missing')).toBe(false);
    expect([isConditionTrue(undefined, 'Ready'), isConditionTrue(null, 'Ready')]).toEqual([false, false]);
  });

  it('removes by type', () => {
    const conditions: Condition[] = [];
    setCondition(conditions, ready, { now });
    expect(removeCondition(conditions, 'Other')).toBe(false);
    expect(removeCondition(conditions, 'Ready')).toBe(true);
    expect(conditions).toEqual([]);
  });
});
