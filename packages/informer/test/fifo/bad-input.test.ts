// What is not valid, or throws, is refused as a whole: nothing is lost, nothing is queued in part.
import { describe, expect, it } from 'vitest';
import { createDeltaFifo, createRealFifo, RequeueError } from '../../src/index.js';
import type { Delta, KnownObjects } from '../../src/index.js';
import type { Item } from './queue-models.js';

const key = ({ name }: Item): string => name;
const item = (name: string): Item => ({ name, value: 1 });
interface Options {
  readonly knownObjects?: KnownObjects<Item>;
  readonly transform?: (object: Item) => Item;
}
const queues = {
  DeltaFIFO: (options: Options = {}) => {
    const fifo = createDeltaFifo<Item>({ key, ...options });
    return { fifo, waiting: (): readonly Delta<Item>[] => fifo.keys().flatMap((one) => fifo.deltasOf(one) ?? []) };
  },
  RealFIFO: (options: Options = {}) => {
    const fifo = createRealFifo<Item>({ key, ...options });
    return { fifo, waiting: (): readonly Delta<Item>[] => fifo.deltas() };
  },
};

describe.each(Object.entries(queues))('%s', (name, make) => {
  it.each([undefined, null, 'work', {}])('takes nothing for a process function %o', async (process) => {
    const { fifo, waiting } = make();
    fifo.add(item('a'));
    await expect(fifo.pop(process as never)).rejects.toThrow(`${name}.pop: process`);
    expect(waiting()).toHaveLength(1);
  });

  it.each([undefined, 'ab', {}])('refuses a replacement by %o', (objects) => {
    const { fifo, waiting } = make();
    fifo.add(item('a'));
    expect(() => fifo.replace(objects as never, '1')).toThrow(`${name}: replace`);
    expect(waiting()).toHaveLength(1);
  });

  it('refuses a replacement as a whole where what is known cannot be read, at its first key or a later one', () => {
    const failing = (at: number): KnownObjects<Item> => {
      let reads = 0;
      return {
        keys: () => ['x', 'y', 'z'],
        get: (one) => {
          if (++reads > at) throw new Error('the store is closed');
          return item(one);
        },
      };
    };
    for (const at of [0, 1, 2]) {
      const { fifo, waiting } = make({ knownObjects: failing(at) });
      expect(() => fifo.replace([item('a')], '1')).toThrow('the store is closed');
      expect([waiting(), fifo.hasSynced]).toEqual([[], false]);
      const other = make({ knownObjects: failing(at) });
      expect(() => other.fifo.resync()).toThrow('the store is closed');
      expect(other.waiting()).toEqual([]);
    }
  });

  it('refuses an object for which the transform returns nothing: it changed it in place', () => {
    const { fifo, waiting } = make({ transform: () => undefined as never });
    expect(() => make({ transform: () => null as never }).fifo.add(item('a'))).toThrow('what transform returned null');
    expect(() => fifo.add(item('a'))).toThrow(
      `${name}: what transform returned undefined is not valid: expected the object to queue`,
    );
    expect(() => fifo.replace([item('a')], '1')).toThrow('what transform returned');
    expect([waiting(), fifo.hasSynced]).toEqual([[], false]);
  });
});

it('takes no batch for a function of batches, or of what comes alone, that is none', async () => {
  const fifo = createRealFifo<Item>({ key });
  fifo.add(item('a'));
  await expect(fifo.popBatch(undefined as never)).rejects.toThrow('RealFIFO.popBatch: process');
  await expect(fifo.popBatch(() => undefined, { single: 5 as never })).rejects.toThrow('RealFIFO.popBatch: single');
  expect(fifo.length).toBe(1);
});

it('queues deltas again as they were, whatever the process function has made of its own', async () => {
  const fifo = createDeltaFifo<Item>({ key });
  fifo.add(item('a'));
  await fifo
    .pop((deltas) => {
      (deltas as Delta<Item>[]).length = 0;
      throw new RequeueError();
    })
    .catch(() => undefined);
  expect([fifo.keys(), fifo.deltasOf('a')]).toEqual([['a'], [{ type: 'Added', key: 'a', object: item('a') }]]);
});

it.each([undefined, 'late', null])('a request to queue again has the cause %j that it was given, or none', (given) => {
  const error = new RequeueError(given);
  expect([Object.hasOwn(error, 'cause'), error.cause]).toEqual([given !== undefined, given]);
});

it.each([5, '', undefined, null, {}])('refuses the key %o of an object, and queues nothing', (wrong) => {
  const options = { key: () => wrong as never };
  const delta = createDeltaFifo<Item>(options);
  const real = createRealFifo<Item>(options);
  for (const fifo of [delta, real]) {
    expect(() => fifo.add(item('a'))).toThrow('the key of an object');
    expect(() => fifo.replace([item('a')], '5')).toThrow('a non-empty string, from the option key');
    expect([fifo.length, fifo.hasSynced]).toEqual([0, false]);
  }
});

it('leaves out of a resync what is known by its key alone', () => {
  const knownObjects: KnownObjects<Item> = {
    keys: () => ['a', 'b'],
    get: (name) => (name === 'b' ? item('b') : undefined),
  };
  for (const make of Object.values(queues)) {
    const { fifo, waiting } = make({ knownObjects });
    fifo.resync();
    expect(waiting()).toEqual([{ type: 'Sync', key: 'b', object: item('b') }]);
  }
});
