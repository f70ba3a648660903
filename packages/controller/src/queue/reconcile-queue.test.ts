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
    [{ namespace: 7, name: 'a' }, '{"name":"a","namespace":7}'],
    [{ cluster: 7, name: 'a' }, '{"cluster":7,"name":"a"}'],
    [{ namespace: null, cluster: undefined, name: 'a' }, 'a'],
    [42, '42'],
  ])('names %j', (request, key) => {
    expect(defaultRequestKey(request)).toBe(key);
  });

  it('names a bigint apart from the number and the text', () => {
    const keys = [7n, 7, '7', 7.5].map((id) => defaultRequestKey({ id, name: 'a' }));
    expect(keys[0]).toBe('{"id":{"bigint":"7"},"name":"a"}');
    expect(new Set(keys).size).toBe(4);
    expect(defaultRequestKey(7n)).toBe('{"bigint":"7"}');
  });

  it('names what a request without JSON needs', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const request of [cycle, undefined, () => undefined, Symbol('x')])
      expect(() => defaultRequestKey(request)).toThrow('give createController({ requestKey })');
    expect(() => defaultRequestKey(null)).toThrow('a request is null: expected one such as { namespace, name }');
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
    expect([a, a, b, b, a, { name: 'a' }, 'a', 'b', 'b'].map((request) => key(request))).toEqual([
      'a',
      'a',
      'b',
      'b',
      'a',
      'a',
      'a',
      'b',
      'b',
    ]);
    expect(asked).toEqual([a, b, a, { name: 'a' }, 'a', 'b']);
  });
});

describe('adaptQueue', () => {
  it.each([undefined, null, 'x', {}])('refuses %j, which is not a queue', (queue) => {
    expect(() => adaptQueue(queue as never)).toThrow('newQueue is not valid');
  });

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
