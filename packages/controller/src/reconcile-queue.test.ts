import { createRateLimitingQueue } from '@kctl/workqueue';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { adaptQueue, defaultRequestKey, rememberingKey } from './reconcile-queue.js';

describe('defaultRequestKey', () => {
  it.each<[unknown, string]>([
    ['text', 'text'],
    [{ name: 'a' }, 'a'],
    [{ namespace: '', name: 'a' }, 'a'],
    [{ name: 'a', namespace: 'n' }, 'n/a'],
    [{ cluster: 'c', namespace: 'n', name: 'a' }, 'c//n/a'],
    [{ cluster: 'c', name: 'a' }, 'c//a'],
    [{ name: 'a', bucket: 1 }, '{"bucket":1,"name":"a"}'],
    [{ bucket: { z: 1, a: 2 } }, '{"bucket":{"a":2,"z":1}}'],
    [{ name: 7 }, '{"name":7}'],
    [42, '42'],
  ])('names %j', (request, key) => {
    expect(defaultRequestKey(request)).toBe(key);
  });
});

describe('rememberingKey', () => {
  it('asks once for the same request in a row, and again for another', () => {
    const asked: unknown[] = [];
    const key = rememberingKey((request: unknown) => {
      asked.push(request);
      return defaultRequestKey(request);
    });
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    expect([a, a, b, b, a, { name: 'a' }, 'a', 'b', 'b', undefined, undefined].map((request) => key(request))).toEqual([
      'a',
      'a',
      'b',
      'b',
      'a',
      'a',
      'a',
      'b',
      'b',
      undefined,
      undefined,
    ]);
    expect(asked).toEqual([a, b, a, { name: 'a' }, 'a', 'b', undefined, undefined]);
  });
});

describe('adaptQueue', () => {
  it('gives rate limits precedence over delays and reads every priority as 0', async () => {
    const clock = new FakeClock();
    const queue = adaptQueue(
      createRateLimitingQueue({
        clock,
        rateLimiter: { when: () => 100, forget: () => undefined, numRequeues: () => 0 },
      }),
    );
    queue.addWith({ rateLimited: true, afterMs: 5, priority: 9 }, 'slow');
    queue.addWith({ afterMs: 10 }, 'later');
    queue.addWith({ priority: 3 }, 'now');
    const take = (): string | undefined => queue.tryGetWithPriority()?.item;
    expect([take(), take()]).toEqual(['now', undefined]);
    clock.advanceSync(10);
    expect([take(), take()]).toEqual(['later', undefined]);
    clock.advanceSync(90);
    expect(await queue.getWithPriority()).toEqual({ item: 'slow', priority: 0, reasons: [] });
    queue.shutDown();
    expect(await queue.getWithPriority()).toBeUndefined();
  });
});
