import { clockOption } from '@kctl/options';
import { describe, expect, it } from 'vitest';
import { systemClock } from './system-clock.js';
import { FakeClock } from './testing/index.js';

describe('clocks', () => {
  it.each([
    ['systemClock', systemClock],
    ['FakeClock', new FakeClock()],
  ])('pass clockOption, which does not know the type: %s', (_name, clock) => {
    expect(clockOption('clock', clock)).toBeUndefined();
  });
});
