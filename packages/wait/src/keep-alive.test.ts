import { describe, expect, it } from 'vitest';
import { keepAlive } from './keep-alive.js';

const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

describe('keepAlive', () => {
  it('holds the process until it is disposed, however often', () => {
    const before = timers();
    const held = keepAlive();
    expect(timers()).toBe(before + 1);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    expect(timers()).toBe(before);
  });
});
