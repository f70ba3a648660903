// client-go's DeltaFIFO, rule by rule: what is grouped, merged, deleted by a relist, and when it has synced.
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createDeltaFifo, isFifoClosed, RequeueError } from '../../src/index.js';
import { FifoClosedError } from '../../src/internal/index.js';
import type { DeltaFifo, DeltaFifoOptions, Deltas, Tombstone } from '../../src/index.js';

interface Item {
  readonly name: string;
  readonly value: number;
}
const item = (name: string, value = 1): Item => ({ name, value });
const tombstone = (tombstoneOf: string, object?: Item): Tombstone<Item> => ({ tombstoneOf, object });
const fifo = (options: DeltaFifoOptions<Item> = {}): DeltaFifo<Item> =>
  createDeltaFifo<Item>({ key: ({ name }) => name, ...options });
const knows = (...items: Item[]): Pick<DeltaFifoOptions<Item>, 'knownObjects'> => ({
  knownObjects: { keys: () => items.map(({ name }) => name), get: (key) => items.find(({ name }) => name === key) },
});
/** `Added 1`, `Deleted ? of 2`. */
const shown = (deltas: Deltas<Item> | undefined): string[] =>
  (deltas ?? []).map((delta) => {
    const value = delta.object?.value ?? 'nothing';
    return delta.type === 'Deleted' && delta.finalStateUnknown ? `Deleted ? of ${value}` : `${delta.type} ${value}`;
  });
const waiting = (queue: DeltaFifo<Item>): Record<string, string[]> =>
  Object.fromEntries(queue.keys().map((key) => [key, shown(queue.deltasOf(key))]));
const pop = (queue: DeltaFifo<Item>): Promise<string[]> => queue.pop(() => undefined).then(shown);

describe('deltas of objects', () => {
  it('are grouped by object, in the order of their first delta since the last pop', async () => {
    const queue = fifo();
    queue.add(item('a', 1));
    queue.add(item('b', 1));
    queue.update(item('a', 2));
    queue.delete(item('a', 3));
    queue.add(item('a', 4));
    expect(waiting(queue)).toEqual({ a: ['Added 1', 'Updated 2', 'Deleted 3', 'Added 4'], b: ['Added 1'] });
    expect(queue.length).toBe(2);
    await pop(queue);
    queue.update(item('a', 5));
    expect(queue.keys()).toEqual(['b', 'a']);
  });

  it.each<[string, (queue: DeltaFifo<Item>) => void, string[]]>([
    [
      'two deletions: the newer',
      (queue) => [item('a', 1), item('a', 2)].forEach((o) => queue.delete(o)),
      ['Deleted 2'],
    ],
    [
      'a tombstone after a deletion: the deletion, which has the object as it was at its end',
      (queue) => [item('a', 1), tombstone('a', item('a', 9))].forEach((o) => queue.delete(o)),
      ['Deleted 1'],
    ],
    [
      'a deletion after a tombstone: the deletion',
      (queue) => [tombstone('a', item('a', 9)), item('a', 1)].forEach((o) => queue.delete(o)),
      ['Deleted 1'],
    ],
    [
      'two tombstones: the newer, as client-go does',
      (queue) => [tombstone('a', item('a', 8)), tombstone('a', item('a', 9))].forEach((o) => queue.delete(o)),
      ['Deleted ? of 9'],
    ],
    [
      'a tombstone without an object after one that has it: the one that has it',
      (queue) => [tombstone('a', item('a', 8)), tombstone('a')].forEach((o) => queue.delete(o)),
      ['Deleted ? of 8'],
    ],
  ])('say a deletion once: %s', (_, act, expected) => {
    const queue = fifo(knows(item('a')));
    act(queue);
    expect(shown(queue.deltasOf('a'))).toEqual(expected);
  });

  it('have no deletion of what is neither queued nor known: it was reported before', () => {
    const queue = fifo(knows(item('known')));
    queue.delete(item('unknown'));
    queue.delete(tombstone('unknown too'));
    queue.delete(item('known', 3));
    queue.add(item('queued'));
    queue.delete(tombstone('queued'));
    expect(waiting(queue)).toEqual({ known: ['Deleted 3'], queued: ['Added 1', 'Deleted ? of nothing'] });
  });

  it('are changed by the transform, but not tombstones and resyncs', () => {
    const queue = fifo({ ...knows(item('old', 1)), transform: ({ name, value }) => item(name, value * 10) });
    queue.resync();
    queue.add(item('a', 1));
    queue.delete(tombstone('a', item('a', 1)));
    expect(waiting(queue)).toEqual({ old: ['Sync 1'], a: ['Added 10', 'Deleted ? of 1'] });
  });

  it('need a key: an object without one is refused and costs nothing else', () => {
    const queue = createDeltaFifo<{ metadata?: { namespace?: string; name: string } }>();
    queue.add({ metadata: { namespace: 'ns', name: 'n' } });
    queue.add({ metadata: { name: 'n' } });
    expect(() => queue.add({})).toThrow('an object has no metadata.name');
    expect(() => queue.replace([{ metadata: { name: 'new' } }, {}], '1')).toThrow('an object has no metadata.name');
    expect(queue.keys()).toEqual(['ns/n', 'n']);
    expect(() => createDeltaFifo({ key: 'name' as never })).toThrow('createDeltaFifo: key "name" is not valid');
    expect(() => fifo({ key: () => '' }).add(item('a'))).toThrow('the key of an object "" is not valid');
  });
});

describe('a replacement', () => {
  it('replaces what is listed, and deletes what else is queued or known with the newest state there is of it', () => {
    const queue = fifo(knows(item('known', 7), item('both', 7), item('listed', 7)));
    queue.add(item('queued', 1));
    queue.update(item('both', 8));
    queue.delete(tombstone('both', item('both', 9)));
    queue.replace([item('listed', 10), item('new', 10)], '10');
    expect(waiting(queue)).toEqual({
      queued: ['Added 1', 'Deleted ? of 1'],
      both: ['Updated 8', 'Deleted ? of 9'],
      listed: ['Replaced 10'],
      new: ['Replaced 10'],
      known: ['Deleted ? of 7'],
    });
  });

  it('says Sync instead of Replaced where told so', () => {
    const queue = fifo({ emitReplaced: false });
    queue.replace([item('a')], '1');
    expect(waiting(queue)).toEqual({ a: ['Sync 1'] });
  });

  it('deletes nothing where items of the list could not be read', () => {
    const queue = fifo(knows(item('known')));
    queue.replace([item('a')], '1', { isIncomplete: true });
    expect(queue.keys()).toEqual(['a']);
  });
});

describe('a resync', () => {
  it('goes through what is known, except for what has something queued', () => {
    const queue = fifo(knows(item('a', 5), item('b', 5)));
    queue.update(item('a', 6));
    queue.resync();
    expect(waiting(queue)).toEqual({ a: ['Updated 6'], b: ['Sync 5'] });
    fifo().resync();
  });
});

describe('hasSynced', () => {
  it.each<[string, (queue: DeltaFifo<Item>) => unknown, boolean]>([
    ['nothing yet', () => undefined, false],
    ['an add before any list', (queue) => queue.add(item('a')), true],
    ['an empty list', (queue) => queue.replace([], '0'), true],
    ['a list', (queue) => queue.replace([item('a'), item('b')], '0'), false],
    ['a list of which one was popped', (queue) => (queue.replace([item('a'), item('b')], '0'), pop(queue)), false],
    [
      'a list that was popped',
      async (queue) => (queue.replace([item('a'), item('b')], '0'), await pop(queue), await pop(queue)),
      true,
    ],
    ['a list with one object twice', (queue) => (queue.replace([item('a'), item('a', 2)], '0'), pop(queue)), true],
    [
      'a list while a deletion is known',
      (queue) =>
        [['a'], []].forEach((names) =>
          queue.replace(
            names.map((name) => item(name)),
            '1',
          ),
        ),
      false,
    ],
  ])('after %s: %s', async (_, act, expected) => {
    const queue = fifo();
    await act(queue);
    expect(queue.hasSynced).toBe(expected);
  });

  it('counts the deletions of the first list, and tells initial objects from later ones', async () => {
    const queue = fifo(knows(item('gone')));
    queue.replace([item('a')], '0');
    queue.update(item('a', 2));
    const seen: [string, boolean][] = [];
    for (let pops = 0; pops < 2; pops++) {
      await queue.pop((_, { key, isInInitialList }) => void seen.push([key, isInInitialList]));
      expect(queue.hasSynced).toBe(pops === 1);
    }
    queue.add(item('later'));
    await queue.pop((_, { key, isInInitialList }) => void seen.push([key, isInInitialList]));
    expect(seen).toEqual([
      ['a', true],
      ['gone', true],
      ['later', false],
    ]);
  });
});

describe('pop', () => {
  it('waits for an object, and gives one to each of those that wait, one after the other', async () => {
    const queue = fifo();
    const done: string[] = [];
    const first = Promise.withResolvers<undefined>();
    const pops = [
      queue.pop(() => first.promise.then(() => undefined)).then((deltas) => done.push(...shown(deltas))),
      queue.pop(() => undefined).then((deltas) => done.push(...shown(deltas))),
    ];
    await settle();
    queue.add(item('a', 1));
    queue.add(item('b', 2));
    await settle();
    // What is being processed is no longer queued, and nothing else is processed meanwhile.
    expect([done, queue.keys()]).toEqual([[], ['b']]);
    first.resolve(undefined);
    await Promise.all(pops);
    expect(done).toEqual(['Added 1', 'Added 2']);
  });

  it('stops waiting when its signal aborts, also behind another that waits; nothing is lost', async () => {
    const queue = fifo();
    const [one, two] = [new AbortController(), new AbortController()];
    const waits = [one, two].map(({ signal }) => queue.pop(() => undefined, { signal }));
    two.abort(new Error('enough'));
    await expect(waits[1]).rejects.toThrow('enough');
    queue.add(item('a'));
    expect(shown(await waits[0])).toEqual(['Added 1']);
    await expect(queue.pop(() => undefined, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
  });

  it('rejects with what processing throws: the deltas are gone, unless it asks for them again', async () => {
    const queue = fifo();
    queue.add(item('a'));
    await expect(queue.pop(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(queue.length).toBe(0);
    queue.add(item('b', 1));
    const failing = queue.pop(() => {
      queue.delete(item('b', 2));
      queue.add(item('b', 3));
      throw new RequeueError(new Error('not now'));
    });
    await expect(failing).rejects.toThrow('not now');
    expect(waiting(queue)).toEqual({ b: ['Added 1', 'Deleted 2', 'Added 3'] });
    queue.update(item('b', 4));
    await expect(
      queue.pop(() => {
        queue.update(item('b', 5));
        throw new RequeueError();
      }),
    ).rejects.toThrow('the popped item should be requeued');
    expect(waiting(queue)).toEqual({ b: ['Added 1', 'Deleted 2', 'Added 3', 'Updated 4', 'Updated 5'] });
  });

  it('takes what is in process for known: a relist or a deletion meanwhile deletes it, a resync leaves it out', async () => {
    const queue = fifo(knows(item('known', 1), item('gone', 1)));
    queue.add(item('new', 2));
    await queue.pop(async () => {
      await settle();
      queue.replace([item('known', 2), item('gone', 2)], '9');
    });
    expect(waiting(queue)).toEqual({ known: ['Replaced 2'], gone: ['Replaced 2'], new: ['Deleted ? of 2'] });
    await queue.pop(() => queue.resync());
    await queue.pop(() => queue.delete(item('gone', 3)));
    expect(waiting(queue)).toEqual({ new: ['Deleted ? of 2'], gone: ['Deleted 3'] });
    await queue.pop(() => queue.delete(item('new', 3)));
    await queue.pop(() => queue.replace([item('known', 2)], '10'));
    expect(waiting(queue)).toEqual({ known: ['Replaced 2'] });
  });

  it('has synced only when the last object of the list has been processed', async () => {
    const queue = fifo();
    queue.replace([item('a')], '0');
    const processed = Promise.withResolvers<undefined>();
    const popped = queue.pop(() => processed.promise);
    await settle();
    expect([queue.length, queue.hasSynced]).toEqual([0, false]);
    processed.resolve(undefined);
    await popped;
    expect(queue.hasSynced).toBe(true);
  });

  it('costs the same however many objects wait', async () => {
    const cpu = async (objects: number): Promise<number> => {
      const queue = fifo();
      for (let index = 0; index < objects; index++) queue.add(item(`n${index}`));
      const before = process.cpuUsage();
      for (let pops = 0; pops < objects; pops++) await queue.pop(() => undefined);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // The least of three: what the collector adds to one of them is not the queue's.
    const least = async (objects: number): Promise<number> =>
      Math.min(await cpu(objects), await cpu(objects), await cpu(objects));
    await cpu(5_000);
    // Ten times as many; a pop that walked the queue would cost a hundred times as much.
    expect((await least(100_000)) / Math.max(await least(10_000), 1)).toBeLessThan(50);
  });

  it('drains a closed queue, then rejects; one that waits rejects at once', async () => {
    const queue = fifo();
    const waits = queue.pop(() => undefined);
    await settle();
    queue.close();
    await expect(waits).rejects.toThrow(FifoClosedError);
    queue.add(item('a'));
    expect(await pop(queue)).toEqual(['Added 1']);
    expect(await pop(queue).catch(isFifoClosed)).toBe(true);
    expect(queue.isClosed).toBe(true);
  });
});
