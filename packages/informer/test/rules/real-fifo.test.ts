// client-go's RealFIFO, case by case of the_real_fifo_test.go (v0.37): each event in its place, across all objects.
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createRealFifo, isFifoClosed, RequeueError } from '../../src/index.js';
import { FifoClosedError } from '../../src/internal/index.js';
import type { AtomicDelta, RealFifo, RealFifoOptions } from '../../src/index.js';

interface Item {
  readonly name: string;
  readonly value: number;
}
const item = (name: string, value = 1): Item => ({ name, value });
const fifo = (options: Omit<RealFifoOptions<Item>, 'atomicEvents'> = {}): RealFifo<Item> =>
  createRealFifo<Item>({ key: ({ name }) => name, ...options });
const atomic = (emitBookmarks = false): RealFifo<Item, AtomicDelta<Item>> =>
  createRealFifo<Item>({ key: ({ name }) => name, atomicEvents: true, emitBookmarks });
const knows = (...items: Item[]): Pick<RealFifoOptions<Item>, 'knownObjects'> => ({
  knownObjects: { keys: () => items.map(({ name }) => name), get: (key) => items.find(({ name }) => name === key) },
});
const threeKnown = (): Pick<RealFifoOptions<Item>, 'knownObjects'> =>
  knows(item('foo', 5), item('bar', 6), item('baz', 7));

/** `Added foo 1`, `Deleted? foo 2`, `ReplacedAll@10 foo 1, bar 2`. */
function shown(deltas: readonly AtomicDelta<Item>[]): string[] {
  return deltas.map((delta) => {
    if (delta.type === 'SyncAll') return 'SyncAll';
    if (delta.type === 'Bookmark') return `Bookmark@${delta.resourceVersion}`;
    if (delta.type === 'ReplacedAll')
      return `ReplacedAll@${delta.resourceVersion} ${delta.objects.map(({ name, value }) => `${name} ${value}`).join(', ')}`;
    const type = delta.type === 'Deleted' && delta.finalStateUnknown ? 'Deleted?' : delta.type;
    return `${type} ${delta.key} ${delta.object?.value ?? 'nothing'}`;
  });
}
async function popAll(queue: RealFifo<Item, AtomicDelta<Item>>): Promise<string[]> {
  const all: string[] = [];
  while (queue.length > 0) {
    const deltas = await queue.pop(() => undefined);
    expect(deltas).toHaveLength(1);
    all.push(...shown(deltas));
  }
  return all;
}
async function popBatches(queue: RealFifo<Item, AtomicDelta<Item>>): Promise<[isInitial: boolean, ...string[]][]> {
  const batches: [boolean, ...string[]][] = [];
  while (queue.length > 0)
    await queue.popBatch((deltas, { isInInitialList }) => {
      batches.push([isInInitialList, ...shown(deltas)]);
    });
  return batches;
}

describe('order of events', () => {
  it('is that of the calls, for each of two producers (basic)', async () => {
    const queue = fifo();
    const names = Array.from({ length: 500 }, (_, index) => index);
    for (const index of names) {
      queue.add(item(`a${index}`, index));
      queue.add(item(`b${index}`, index));
    }
    const seen = await popAll(queue);
    expect(seen).toEqual(names.flatMap((index) => [`Added a${index} ${index}`, `Added b${index} ${index}`]));
  });

  it('has each state of an object, and no delta is merged (addUpdate)', async () => {
    const queue = fifo();
    queue.add(item('foo', 10));
    queue.update(item('foo', 12));
    queue.delete(item('foo', 15));
    queue.delete(item('foo', 16));
    expect(shown(queue.deltas())).toEqual(['Added foo 10', 'Updated foo 12', 'Deleted foo 15', 'Deleted foo 16']);
    expect(await popAll(queue)).toHaveLength(4);
    expect(queue.deltas()).toEqual([]);
  });

  it('is not left by an object of which something waits (detectLineJumpers)', async () => {
    const queue = fifo();
    queue.add(item('foo', 10));
    queue.add(item('bar', 1));
    queue.add(item('foo', 11));
    queue.add(item('foo', 13));
    queue.add(item('zab', 30));
    const first = shown(await queue.pop(() => undefined));
    queue.add(item('foo', 14));
    expect([...first, ...(await popAll(queue))].map((text) => Number(text.split(' ')[2]))).toEqual([
      10, 1, 11, 13, 30, 14,
    ]);
  });

  it('has deletions of what is neither queued nor known (enqueueingNoLister)', async () => {
    const queue = fifo();
    queue.add(item('foo', 10));
    queue.update(item('bar', 15));
    queue.add(item('qux', 17));
    queue.delete(item('qux', 18));
    queue.delete(item('baz', 20));
    expect((await popAll(queue)).map((text) => Number(text.split(' ')[2]))).toEqual([10, 15, 17, 18, 20]);
  });

  it('has deletions of what is known (enqueueingWithLister, DeleteExistingNonPropagated)', async () => {
    const queue = fifo(threeKnown());
    queue.add(item('foo', 10));
    queue.update(item('bar', 15));
    queue.delete(item('baz', 20));
    expect(await popAll(queue)).toEqual(['Added foo 10', 'Updated bar 15', 'Deleted baz 20']);
  });

  it('has both the added object and its replacement (addReplace)', async () => {
    const queue = fifo();
    queue.add(item('foo', 10));
    queue.replace([item('foo', 15)], '0');
    expect(await popAll(queue)).toEqual(['Added foo 10', 'Replaced foo 15']);
  });

  it('has the replacement of an object whose deletion waits (replaceWithDeleteDeltaIn)', () => {
    const queue = fifo(knows(item('foo', 1)));
    queue.delete(item('foo', 1));
    queue.replace([item('foo', 2)], '');
    expect(shown(queue.deltas())).toEqual(['Deleted foo 1', 'Replaced foo 2']);
  });
});

describe('a replacement deletes what is only queued (ReplaceMakesDeletionsForObjectsOnlyInQueue)', () => {
  it.each<[string, (queue: RealFifo<Item>) => void, string[]]>([
    [
      'an added object',
      (queue) => {
        queue.add(item('foo', 2));
        queue.replace([], '0');
      },
      ['Added foo 2', 'Deleted? foo 2'],
    ],
    [
      'not a deleted one again',
      (queue) => {
        queue.add(item('foo', 2));
        queue.delete(item('foo', 2));
        queue.replace([], '0');
      },
      ['Added foo 2', 'Deleted foo 2'],
    ],
    [
      'a replaced one once',
      (queue) => {
        queue.add(item('foo', 2));
        queue.replace([item('foo', 2)], '0');
        queue.replace([item('foo', 2)], '0');
        queue.replace([], '0');
      },
      ['Added foo 2', 'Replaced foo 2', 'Replaced foo 2', 'Deleted? foo 2'],
    ],
    [
      'once in several replacements',
      (queue) => {
        queue.add(item('foo', 2));
        queue.replace([], '0');
        queue.replace([], '1');
      },
      ['Added foo 2', 'Deleted? foo 2'],
    ],
    [
      'one that was added again after its deletion',
      (queue) => {
        queue.add(item('foo', 2));
        queue.delete(item('foo', 2));
        queue.add(item('foo', 3));
        queue.replace([], '0');
      },
      ['Added foo 2', 'Deleted foo 2', 'Added foo 3', 'Deleted? foo 3'],
    ],
    [
      'and a bookmark is not queued without atomicEvents',
      (queue) => {
        queue.bookmark('123');
        queue.replace([], '0');
        queue.replace([], '1');
      },
      [],
    ],
  ])('%s', async (_, act, expected) => {
    const queue = fifo(knows());
    act(queue);
    expect(await popAll(queue)).toEqual(expected);
    expect(queue.length).toBe(0);
  });
});

describe('a replacement deletes what is queued or known, before it replaces (ReplaceMakesDeletions)', () => {
  it.each<[string, (queue: RealFifo<Item>) => void, string[]]>([
    [
      'with a deletion that waits',
      (queue) => {
        queue.delete(item('baz', 10));
        queue.replace([item('foo', 5)], '0');
      },
      ['Deleted baz 10', 'Deleted? bar 6', 'Replaced foo 5'],
    ],
    [
      'with an object that was added',
      (queue) => {
        queue.add(item('baz', 10));
        queue.replace([item('foo', 5)], '0');
      },
      ['Added baz 10', 'Deleted? baz 10', 'Deleted? bar 6', 'Replaced foo 5'],
    ],
    [
      'with one that was deleted and added again',
      (queue) => {
        queue.delete(item('bar', 6));
        queue.add(item('bar', 100));
        queue.replace([item('foo', 5)], '0');
      },
      ['Deleted bar 6', 'Added bar 100', 'Deleted? bar 100', 'Deleted? baz 7', 'Replaced foo 5'],
    ],
    [
      'with the newest state, which is that of an earlier replacement',
      (queue) => {
        queue.replace([item('bar', 100), item('foo', 5)], '0');
        queue.replace([item('foo', 5)], '0');
      },
      ['Deleted? baz 7', 'Replaced bar 100', 'Replaced foo 5', 'Deleted? bar 100', 'Replaced foo 5'],
    ],
    [
      'and says Replaced of what is listed (ReplaceMakesDeletionsReplaced)',
      (queue) => {
        queue.delete(item('baz', 10));
        queue.replace([item('foo', 6)], '0');
      },
      ['Deleted baz 10', 'Deleted? bar 6', 'Replaced foo 6'],
    ],
  ])('%s', async (_, act, expected) => {
    const queue = fifo(threeKnown());
    act(queue);
    expect(await popAll(queue)).toEqual(expected);
  });

  it('without known objects: what is queued', async () => {
    const queue = fifo();
    queue.add(item('baz', 10));
    queue.replace([item('foo', 5)], '0');
    expect(await popAll(queue)).toEqual(['Added baz 10', 'Deleted? baz 10', 'Replaced foo 5']);
  });

  it('not where items of the list could not be read', async () => {
    const queue = fifo(threeKnown());
    queue.replace([item('foo', 5)], '0', { isIncomplete: true });
    expect(await popAll(queue)).toEqual(['Replaced foo 5']);
  });
});

describe('the transform', () => {
  it('changes each object once, and no tombstone (transformer)', async () => {
    const queue = fifo({ transform: ({ name, value }) => item(name, value + 1000) });
    queue.add(item('foo', 10));
    queue.add(item('bar', 11));
    queue.update(item('foo', 12));
    queue.delete(item('foo', 15));
    queue.replace([], '');
    queue.add(item('bar', 16));
    queue.replace([], '');
    expect(await popAll(queue)).toEqual([
      'Added foo 1010',
      'Added bar 1011',
      'Updated foo 1012',
      'Deleted foo 1015',
      'Deleted? bar 1011',
      'Added bar 1016',
      'Deleted? bar 1016',
    ]);
  });

  it('refuses the call when it throws, and nothing of it is queued', () => {
    const queue = fifo({
      ...knows(item('known')),
      transform: (object) => {
        if (object.value === 13) throw new Error('unlucky');
        return object;
      },
    });
    expect(() => queue.replace([item('a'), item('b', 13)], '1')).toThrow('unlucky');
    expect(() => queue.add(item('b', 13))).toThrow('unlucky');
    expect([queue.length, queue.hasSynced]).toEqual([0, false]);
  });
});

describe('a resync', () => {
  it('goes through what is known (Resync)', () => {
    const queue = fifo(knows(item('foo', 5)));
    queue.resync();
    expect(shown(queue.deltas())).toEqual(['Sync foo 5']);
  });

  it('leaves out what has something that waits (ResyncNonExisting, UpdateResyncRace)', () => {
    const queue = fifo(knows(item('foo', 5), item('bar', 5)));
    queue.delete(item('foo', 10));
    queue.update(item('bar', 6));
    queue.resync();
    expect(shown(queue.deltas())).toEqual(['Deleted foo 10', 'Updated bar 6']);
    fifo().resync();
  });
});

describe('keys (KeyOf)', () => {
  it('are of objects and of tombstones; an object without one is refused and costs nothing else', () => {
    const queue = createRealFifo<{ metadata?: { namespace?: string; name: string } }>();
    queue.add({ metadata: { namespace: 'ns', name: 'n' } });
    queue.delete({ tombstoneOf: 'b', object: undefined });
    expect(() => queue.add({})).toThrow('an object has no metadata.name');
    expect(() => queue.replace([{ metadata: { name: 'new' } }, {}], '1')).toThrow('an object has no metadata.name');
    expect(queue.deltas().map(({ key }) => key)).toEqual(['ns/n', 'b']);
    expect(() => fifo({ key: () => '' }).add(item('a'))).toThrow('RealFIFO: the key of an object "" is not valid');
  });
});

describe('hasSynced', () => {
  const twoListed = (queue: RealFifo<Item>): void => queue.replace([item('a'), item('b', 2)], '0');
  const pop = (queue: RealFifo<Item>): Promise<unknown> => queue.pop(() => undefined);
  it.each<[string, ((queue: RealFifo<Item>) => unknown)[], boolean]>([
    ['nothing', [], false],
    ['an add', [(queue) => queue.add(item('a'))], true],
    ['an update', [(queue) => queue.update(item('a'))], true],
    ['a deletion', [(queue) => queue.delete(item('a'))], true],
    ['an empty list', [(queue) => queue.replace([], '0')], true],
    ['a list', [twoListed], false],
    ['one pop of two', [twoListed, pop], false],
    ['both pops', [twoListed, pop, pop], true],
    [
      'one pop of an object that is listed twice',
      [(queue) => queue.replace([item('a'), item('a', 2)], '0'), pop],
      false,
    ],
    ['both of its pops', [(queue) => queue.replace([item('a'), item('a', 2)], '0'), pop, pop], true],
  ])('after %s (HasSynced)', async (_, actions, expected) => {
    const queue = fifo();
    for (const act of actions) await act(queue);
    expect(queue.hasSynced).toBe(expected);
  });

  it('counts the deletions of the first list (HasSyncedCorrectOnDeletion)', async () => {
    const queue = fifo(threeKnown());
    queue.replace([item('foo', 5)], '0');
    queue.add(item('later', 1));
    const seen: [string, boolean, boolean][] = [];
    for (let pops = 0; pops < 4; pops++)
      await queue.pop((deltas, { isInInitialList }) => {
        seen.push([shown(deltas).join(), isInInitialList, queue.hasSynced]);
      });
    expect(seen).toEqual([
      ['Deleted? bar 6', true, false],
      ['Deleted? baz 7', true, false],
      ['Replaced foo 5', true, false],
      ['Added later 1', false, true],
    ]);
  });

  it('is true only when the last object has been processed, not when it is handed out', async () => {
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
});

describe('pop', () => {
  it('rejects each of those that wait when the queue is closed (PopShouldUnblockWhenClosed)', async () => {
    const queue = fifo(knows(item('foo', 5)));
    const waits = Array.from({ length: 10 }, () => queue.pop(() => undefined));
    const batch = queue.popBatch(() => undefined);
    await settle();
    queue.close();
    for (const wait of [...waits, batch]) await expect(wait).rejects.toThrow(FifoClosedError);
    expect(queue.isClosed).toBe(true);
  });

  it('drains a closed queue first', async () => {
    const queue = fifo();
    queue.add(item('a'));
    queue.close();
    queue.add(item('b'));
    expect(await popAll(queue)).toEqual(['Added a 1', 'Added b 1']);
    expect(await queue.pop(() => undefined).catch(isFifoClosed)).toBe(true);
  });

  it('rejects with what processing throws; the delta is gone, also with a RequeueError', async () => {
    const queue = fifo();
    queue.replace([item('a'), item('b')], '1');
    await expect(queue.pop(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(
      queue.pop(() => {
        throw new RequeueError();
      }),
    ).rejects.toThrow('requeued');
    expect([queue.length, queue.hasSynced]).toEqual([0, true]);
  });

  it('stops waiting when its signal aborts; nothing is lost', async () => {
    const queue = fifo();
    const stop = new AbortController();
    const wait = queue.popBatch(() => undefined, { signal: stop.signal });
    await settle();
    stop.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    queue.add(item('a'));
    expect(await popAll(queue)).toEqual(['Added a 1']);
  });

  it('takes what is in process for queued: a relist meanwhile deletes it, a resync leaves it out', async () => {
    const queue = fifo(knows(item('known', 1), item('gone', 1)));
    queue.add(item('new', 2));
    queue.delete(item('gone', 2));
    queue.update(item('known', 2));
    await queue.popBatch(async () => {
      await settle();
      queue.resync();
      queue.replace([], '9');
    });
    expect(await popAll(queue)).toEqual(['Deleted? new 2', 'Deleted? known 2']);
  });
});

describe('popBatch', () => {
  const cases: [string, Item[], ((queue: RealFifo<Item>) => void)[], number, [boolean, ...string[]][]][] = [
    [
      'takes all different objects',
      [item('a'), item('b'), item('c')],
      [],
      999_999,
      [[true, 'Replaced a 1', 'Replaced b 1', 'Replaced c 1']],
    ],
    [
      'ends with the initial list',
      [item('a'), item('b')],
      [(queue) => queue.update(item('c')), (queue) => queue.update(item('d'))],
      999_999,
      [
        [true, 'Replaced a 1', 'Replaced b 1'],
        [false, 'Updated c 1', 'Updated d 1'],
      ],
    ],
    [
      'ends before a second delta of an object',
      [item('a')],
      [(queue) => queue.update(item('a', 2)), (queue) => queue.update(item('a', 3))],
      999_999,
      [
        [true, 'Replaced a 1'],
        [false, 'Updated a 2'],
        [false, 'Updated a 3'],
      ],
    ],
    [
      'ends before a second delta of an object in the middle',
      [],
      [
        (queue) => queue.update(item('b', 2)),
        (queue) => queue.update(item('c', 2)),
        (queue) => queue.delete(item('b', 3)),
        (queue) => queue.update(item('d', 2)),
      ],
      999_999,
      [
        [false, 'Updated b 2', 'Updated c 2'],
        [false, 'Deleted b 3', 'Updated d 2'],
      ],
    ],
    [
      'ends with batchSize in the initial list',
      [item('a'), item('b'), item('c')],
      [],
      2,
      [
        [true, 'Replaced a 1', 'Replaced b 1'],
        [true, 'Replaced c 1'],
      ],
    ],
    [
      'ends with batchSize after it',
      [],
      [(queue) => queue.update(item('a')), (queue) => queue.update(item('b')), (queue) => queue.update(item('c'))],
      2,
      [
        [false, 'Updated a 1', 'Updated b 1'],
        [false, 'Updated c 1'],
      ],
    ],
    [
      'ends with the initial list before batchSize is reached',
      [item('a'), item('b'), item('c')],
      [(queue) => queue.update(item('d'))],
      2,
      [
        [true, 'Replaced a 1', 'Replaced b 1'],
        [true, 'Replaced c 1'],
        [false, 'Updated d 1'],
      ],
    ],
  ];
  for (const [name, initial, actions, batchSize, expected] of cases)
    it(`${name} (PopMultipleDeltaInBatch)`, async () => {
      const queue = fifo({ ...knows(...initial), batchSize });
      queue.replace(initial, '123');
      for (const act of actions) act(queue);
      expect(await popBatches(queue)).toEqual(expected);
      expect(queue.hasSynced).toBe(true);
    });

  it('takes 1000 by default', async () => {
    const queue = fifo();
    for (let index = 0; index < 1001; index++) queue.add(item(`n${index}`));
    expect((await popBatches(queue)).map(({ length }) => length - 1)).toEqual([1000, 1]);
  });

  it('has no object without a key: it was refused when it came (PopBrokenItemsInBatch)', async () => {
    const queue = createRealFifo<Item>({
      key: ({ name }) => {
        if (name === 'broken') throw new Error('no key');
        return name;
      },
    });
    queue.add(item('a'));
    expect(() => queue.add(item('broken'))).toThrow('no key');
    queue.add(item('b'));
    expect(await popBatches(queue)).toEqual([[false, 'Added a 1', 'Added b 1']]);
  });
});

describe('atomicEvents', () => {
  it.each<[string, (queue: RealFifo<Item, AtomicDelta<Item>>) => void, string[]]>([
    ['an empty replacement', (queue) => queue.replace([], '123'), ['ReplacedAll@123 ']],
    [
      'a replacement after an add',
      (queue) => {
        queue.add(item('foo', 2));
        queue.replace([], '123');
      },
      ['Added foo 2', 'ReplacedAll@123 '],
    ],
    [
      'several replacements in their order',
      (queue) => {
        queue.add(item('foo', 2));
        queue.replace([item('foo', 2)], '10');
        queue.replace([item('foo', 2)], '20');
        queue.replace([], '56');
      },
      ['Added foo 2', 'ReplacedAll@10 foo 2', 'ReplacedAll@20 foo 2', 'ReplacedAll@56 '],
    ],
    [
      'a bookmark apart from the replacement',
      (queue) => {
        queue.bookmark('123');
        queue.replace([], '1234');
      },
      ['Bookmark@123', 'ReplacedAll@1234 '],
    ],
    ['a resync', (queue) => queue.resync(), ['SyncAll']],
    [
      'a resync after an add',
      (queue) => {
        queue.add(item('foo', 2));
        queue.resync();
      },
      ['Added foo 2', 'SyncAll'],
    ],
  ])('queue %s as one delta (ReplaceAtomic, ReplaceAtomicPop, ResyncAtomic)', async (_, act, expected) => {
    const queue = atomic(true);
    act(queue);
    expect(shown(queue.deltas())).toEqual(expected);
    expect(await popAll(queue)).toEqual(expected);
    expect(queue.length).toBe(0);
  });

  it('come alone in batches, and say whether objects are missing', async () => {
    const queue = atomic();
    queue.bookmark('1');
    queue.replace([item('a')], '1', { isIncomplete: true });
    queue.add(item('b'));
    queue.add(item('c'));
    queue.resync();
    expect(queue.deltas()[0]).toMatchObject({ isIncomplete: true });
    expect(await popBatches(queue)).toEqual([
      [true, 'ReplacedAll@1 a 1'],
      [false, 'Added b 1', 'Added c 1'],
      [false, 'SyncAll'],
    ]);
  });

  it('have no key', async () => {
    const queue = atomic();
    queue.resync();
    queue.add(item('a'));
    const keys: string[] = [];
    for (let pops = 0; pops < 2; pops++) await queue.pop((_, { key }) => void keys.push(key));
    expect(keys).toEqual(['', 'a']);
  });
});

it('refuses options that exclude each other, and values that are none', () => {
  const create = (options: object): unknown => Reflect.apply(createRealFifo<Item>, undefined, [options]);
  expect(() => create({ atomicEvents: true, ...knows() })).toThrow('createRealFifo: knownObjects');
  expect(() => create({ emitBookmarks: true })).toThrow('createRealFifo: emitBookmarks true is not valid');
  expect(() => create({ batchSize: 0 })).toThrow('createRealFifo: batchSize 0 is not valid');
  expect(() => create({ key: 'name' })).toThrow('createRealFifo: key "name" is not valid');
  expect(() => create({ keyFunction: () => '' })).toThrow('keyFunction');
});
