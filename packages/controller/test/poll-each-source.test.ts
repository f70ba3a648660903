import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { pollEachSource } from '../src/index.js';
import { FakeInformers, Pod, pod } from './fakes.js';
import type { Harness } from './harness.js';
import { createHarness } from './harness.js';

describe('pollEachSource', () => {
  const setUp = (
    options: { concurrency?: number; waitForFirst?: boolean; isSame?: (before: string, after: string) => boolean } = {},
  ) => {
    const informers = new FakeInformers();
    const answers = new Map<string, string>();
    const asked: string[] = [];
    const running = new Map<string, AbortSignal>();
    let gate: Promise<unknown> | undefined;
    const source = pollEachSource<string>({
      name: 'buckets',
      informers,
      kind: Pod,
      everyMs: 1000,
      ...options,
      poll: async ({ key, signal }) => {
        asked.push(key.name);
        running.set(key.name, signal);
        await gate;
        const answer = answers.get(key.name);
        if (answer === 'down') throw new Error('down');
        return answer;
      },
    });
    const seen: string[] = [];
    const t = createHarness(async ({ namespace = '', name }, { reasons }) => {
      seen.push(`${name} is ${source.get({ namespace, name }) ?? 'unknown'}: ${reasons.join()}`);
    });
    t.controller.watch(source);
    const hold = (): PromiseWithResolvers<unknown> => {
      const held = Promise.withResolvers<unknown>();
      gate = held.promise;
      return held;
    };
    return { ...t, source, objects: informers.of(Pod), answers, asked, running, seen, hold };
  };

  it('queues an object when the answer about it has changed, and only asks about what is there', async () => {
    const t = setUp();
    t.objects.sync();
    t.answers.set('a', 'red');
    await t.start();
    t.objects.add(pod('a'));
    t.objects.add(pod('b'));
    await settle();
    const reason = (name: string) => `poll-each source: buckets default/${name}`;
    expect(t.seen.splice(0)).toEqual([`a is red: ${reason('a')}`]);
    await t.clock.advance(1000);
    expect([t.seen, t.asked.splice(0)]).toEqual([[], ['a', 'b', 'a', 'b']]);
    t.answers.set('b', 'blue').delete('a');
    await t.clock.advance(1000);
    expect(t.seen.splice(0)).toEqual([`a is unknown: ${reason('a')}`, `b is blue: ${reason('b')}`]);
    t.objects.delete(pod('b'));
    t.asked.length = 0;
    await t.clock.advance(2000);
    expect([t.asked, t.source.get({ namespace: 'default', name: 'b' })]).toEqual([['a', 'a'], undefined]);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('keeps what is known when a poll fails, asks later, and never more at once than it may', async () => {
    const t = setUp({ concurrency: 2 });
    t.objects.sync();
    for (const name of ['a', 'b', 'c']) t.answers.set(name, 'red');
    await t.start();
    const held = t.hold();
    for (const name of ['a', 'b', 'c']) t.objects.add(pod(name));
    await settle();
    expect(t.asked).toEqual(['a', 'b']);
    t.objects.delete(pod('a'));
    expect([t.running.get('a')?.aborted, t.running.get('b')?.aborted]).toEqual([true, false]);
    held.resolve(undefined);
    await settle();
    expect(t.seen.map((line) => line.slice(0, 8))).toEqual(['b is red', 'c is red']);
    t.answers.set('b', 'down');
    await t.clock.advance(1000);
    expect(t.source.get({ namespace: 'default', name: 'b' })).toBe('red');
    t.asked.length = 0;
    await t.clock.advance(1999);
    expect(t.asked).toEqual(['c']);
    await t.clock.advance(1);
    expect(t.asked.toSorted()).toEqual(['b', 'c', 'c']);
    t.stop.abort();
  });

  it('asks no more about what leaves the watched namespaces, without a reconcile, until it is back', async () => {
    const t = setUp();
    t.objects.sync();
    t.answers.set('a', 'red');
    await t.start();
    t.objects.add(pod('a'));
    await settle();
    expect(t.seen.splice(0)).toHaveLength(1);
    t.objects.leave(pod('a'));
    t.asked.length = 0;
    await t.clock.advance(5000);
    const key = { namespace: 'default', name: 'a' };
    expect([t.asked, t.seen, t.source.get(key), t.running.get('a')?.aborted]).toEqual([[], [], undefined, true]);
    t.objects.add(pod('a'));
    await settle();
    expect([t.asked, t.seen.length, t.source.get(key)]).toEqual([['a'], 1, 'red']);
    t.objects.leave(pod('a'));
    t.objects.delete(pod('never polled'));
    await settle();
    expect([t.source.get(key), t.logger.lines.filter(({ level }) => level === 'error')]).toEqual([undefined, []]);
    t.stop.abort();
  });

  it('loses no change when isSame throws', async () => {
    let failures = 2;
    const t = setUp({
      isSame: (before, after) => {
        if (before !== after && failures-- > 0) throw new Error('cannot compare');
        return before === after;
      },
    });
    t.objects.sync();
    t.answers.set('a', 'red');
    await t.start();
    t.objects.add(pod('a'));
    await settle();
    t.seen.length = 0;
    t.answers.set('a', 'blue');
    await t.clock.advance(1000 + 1999);
    expect([t.seen, t.source.get({ namespace: 'default', name: 'a' })]).toEqual([[], 'red']);
    await t.clock.advance(1 + 3999); // the second failure in a row: twice as long
    expect(t.seen).toEqual([]);
    await t.clock.advance(1);
    expect(t.seen).toEqual(['a is blue: poll-each source: buckets default/a']);
    t.stop.abort();
  });

  it('holds the start back until the first answers only when told so', async () => {
    const t = setUp({ waitForFirst: true });
    const held = t.hold();
    const starting = t.start();
    await settle();
    t.objects.add(pod('a'), true);
    t.objects.sync();
    await starting;
    await settle();
    expect(t.controller.phase).toBe('cold');
    held.resolve(undefined);
    await settle();
    expect(t.controller.phase).toBe('active');
    t.stop.abort();
  });

  it('reports each change to every controller that shares it, and keeps the answers while one of them is left', async () => {
    const informers = new FakeInformers();
    const pods = informers.of(Pod).sync();
    let answer = 'red';
    const source = pollEachSource({ name: 'buckets', informers, kind: Pod, everyMs: 1000, poll: async () => answer });
    const key = { namespace: 'default', name: 'a' };
    const seen: string[] = [];
    const [a, b] = ['a', 'b'].map((name) =>
      createHarness(async () => void seen.push(`${name} ${source.get(key) ?? 'unknown'}`)),
    ) as [Harness, Harness];
    for (const t of [a, b]) {
      t.controller.watch(source);
      await t.start();
    }
    pods.add(pod('a'));
    await settle();
    expect(seen.splice(0).toSorted()).toEqual(['a red', 'b red']);
    answer = 'blue';
    await a.clock.advance(1000);
    await b.clock.advance(1000);
    expect(seen.splice(0)).toEqual(['a blue', 'b blue']);
    b.stop.abort();
    await b.controller.waitUntilCold();
    expect(source.get(key)).toBe('blue');
    await a.clock.advance(1000);
    expect(seen).toEqual([]);
    a.stop.abort();
    await a.controller.waitUntilCold();
    expect(source.get(key)).toBeUndefined();
  });

  it('ends polls that hang after their deadline: none holds a lane', async () => {
    const informers = new FakeInformers();
    const pods = informers.of(Pod).sync();
    const aborted: string[] = [];
    const source = pollEachSource<string>({
      name: 'buckets',
      informers,
      kind: Pod,
      everyMs: 1000,
      timeoutMs: 5000,
      concurrency: 1,
      poll: async ({ key: { name }, signal }) => {
        signal.addEventListener('abort', () => aborted.push(name));
        return name === 'hangs' ? await new Promise(() => undefined) : 'red';
      },
    });
    const t = createHarness();
    t.controller.watch(source);
    await t.start();
    pods.add(pod('hangs'));
    pods.add(pod('b'));
    await settle();
    expect(source.get({ namespace: 'default', name: 'b' })).toBeUndefined();
    await t.clock.advance(5000);
    expect(source.get({ namespace: 'default', name: 'b' })).toBe('red');
    expect(aborted).toEqual(['hangs']);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it.each([new Error('down'), () => 'red'])('takes %s that is returned for a poll that failed', async (answer) => {
    const informers = new FakeInformers();
    const pods = informers.of(Pod).sync();
    let given: unknown = 'red';
    const source = pollEachSource<unknown>({ name: 'x', informers, kind: Pod, everyMs: 1000, poll: async () => given });
    const t = createHarness();
    t.controller.watch(source);
    await t.start();
    pods.add(pod('a'));
    await settle();
    t.runs.length = 0;
    given = answer;
    await t.clock.advance(1000);
    expect(source.get({ namespace: 'default', name: 'a' })).toBe('red');
    expect(t.runs).toEqual([]);
    t.stop.abort();
  });

  it('refuses what makes no sense', () => {
    const make = (options: object) => () =>
      pollEachSource({
        name: 'x',
        informers: new FakeInformers(),
        kind: Pod,
        poll: async () => 1,
        everyMs: 1,
        ...options,
      });
    expect(make({ everyMs: Number.NaN })).toThrow('everyMs NaN');
    expect(make({ concurrency: 0 })).toThrow('concurrency 0');
    expect(make({ timeoutMs: 0 })).toThrow('timeoutMs 0');
  });
});
