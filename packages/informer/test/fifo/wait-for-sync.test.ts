import { describe, expect, it } from 'vitest';
import { createDeltaFifo, createRealFifo, waitForSync, type Queue } from '../../src/index.js';
import { FifoClosedError } from '../../src/internal/index.js';

const object = (name: string) => ({ metadata: { name } });

describe.each<[string, () => Queue<ReturnType<typeof object>, unknown>]>([
  ['DeltaFifo', () => createDeltaFifo()],
  ['RealFifo', () => createRealFifo()],
])('waitForSync of a %s', (_name, create) => {
  it('resolves when the first replacement was processed', async () => {
    const fifo = create();
    let isSynced = false;
    const waiting = fifo.waitForSync().then(() => (isSynced = true));
    fifo.replace([object('a'), object('b')], '1', { isIncomplete: false });
    await fifo.pop(() => undefined);
    expect(isSynced).toBe(false);
    await fifo.pop(() => {
      expect(isSynced).toBe(false);
    });
    await waiting;
    await fifo.waitForSync();
  });

  it('resolves at an empty replacement, and at an object that comes first', async () => {
    const empty = create();
    const waiting = empty.waitForSync();
    empty.replace([], '1', { isIncomplete: false });
    await waiting;
    const other = create();
    const added = other.waitForSync();
    other.add(object('a'));
    await added;
  });

  it('rejects when the queue ends before that, at the abort and after the time limit', async () => {
    const fifo = create();
    const waiting = expect(fifo.waitForSync()).rejects.toBeInstanceOf(FifoClosedError);
    await expect(fifo.waitForSync({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    await expect(fifo.waitForSync({ timeoutMs: 0 })).rejects.toThrow('the queue has not synced in 0 ms');
    fifo.close();
    await waiting;
    await expect(fifo.waitForSync()).rejects.toBeInstanceOf(FifoClosedError);
  });

  it('resolves when a closed queue is emptied', async () => {
    const fifo = create();
    fifo.replace([object('a')], '1', { isIncomplete: false });
    const waiting = fifo.waitForSync();
    const popped = fifo.pop(() => fifo.close());
    await popped;
    await waiting;
  });
});

it('waits for several, and ends the other waits with the first that fails', async () => {
  const [first, second] = [createDeltaFifo<object>(), createDeltaFifo<object>()];
  first.replace([], '1');
  const waiting = waitForSync([first, second]);
  second.replace([], '1');
  await waiting;
  const [failing, open] = [createDeltaFifo<object>(), createDeltaFifo<object>()];
  let ended: AbortSignal | undefined;
  const watched = {
    waitForSync: async (options: { readonly signal?: AbortSignal } = {}) => {
      ended = options.signal;
      await open.waitForSync(options).catch(() => undefined);
    },
  };
  const failed = expect(waitForSync([failing, watched])).rejects.toBeInstanceOf(FifoClosedError);
  failing.close();
  await failed;
  expect(ended?.aborted).toBe(true);
  await expect(waitForSync(undefined as never)).rejects.toThrow('waitForSync');
});
