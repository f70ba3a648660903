import { expect, it } from 'vitest';
import { growthSince, liveObjects } from './retention.js';

it('finds keys that are held', () => {
  const held = new Map<number, number>();
  const before = liveObjects();
  const many = 1000 + (before.get('keys of maps and sets') ?? 0);
  for (let key = 0; key < many; key++) held.set(key, key);
  expect(growthSince(before)).toMatch(/^keys of maps and sets that something holds grew from \d+ to \d+/);
  expect(held.size).toBe(many);
});
