import type { LogFields, Logger } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it, vi } from 'vitest';
import {
  bucketRateLimiter,
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  isQueueArgumentError,
  isWorkFailedError,
} from '../src/index.js';

/** Advances by itself at each look: work seems to take time. */
class BusyClock extends FakeClock {
  override monotonicNow(): number {
    this.advanceSync(1);
    return super.monotonicNow();
  }
}

/** Collects what is logged, as `level message key attempt: error`. */
const recordingLogger = (entries: string[]): Logger => {
  const at =
    (level: string) =>
    (message: string, fields?: LogFields): void =>
      void entries.push(
        `${level} ${message} ${String(fields?.['key'])} ${String(fields?.['attempt'])}: ${String(fields?.['error'])}`,
      );
  const logger: Logger = {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isEnabled: () => true,
    child: () => logger,
  };
  return logger;
};

describe('failures of a WorkerPool', () => {
  const makers = [
    ['createRateLimitingQueue', createRateLimitingQueue],
    ['createPriorityQueue', createPriorityQueue],
  ] as const;

  it.each(makers)('are logged by %s, which retries them', async (_name, make) => {
    const clock = new FakeClock();
    const queue = make({ clock });
    const entries: string[] = [];
    let runs = 0;
    const pool = queue.run({ logger: recordingLogger(entries) }, async () => {
      if (++runs < 3) throw new Error('forbidden');
    });
    queue.add('shop/web');
    while (runs < 3) await clock.advance(1000);
    expect(entries).toEqual([
      'error work failed, retrying shop/web 1: Error: forbidden',
      'error work failed, retrying shop/web 2: Error: forbidden',
    ]);
    await pool.stop();
  });

  it.each(makers)('are written to standard error by %s without a logger', async (_name, make) => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const queue = make<{ namespace: string; name: string }>({ clock: new FakeClock() });
      const pool = queue.run({}, () => {
        throw new Error('forbidden');
      });
      queue.add({ namespace: 'shop', name: 'web' });
      await vi.waitFor(() => expect(write).toHaveBeenCalledOnce());
      expect(JSON.parse(String(write.mock.calls[0]?.[0]))).toMatchObject({
        level: 'error',
        msg: 'work failed, retrying',
        key: 'shop/web',
        attempt: 1,
        error: { message: 'forbidden' },
      });
      await pool.stop();
    } finally {
      write.mockRestore();
    }
  });

  it('go to onError alone without a logger, and to both with one', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const entries: string[] = [];
      for (const logger of [undefined, recordingLogger(entries)]) {
        const queue = createRateLimitingQueue({ clock: new FakeClock() });
        const seen: string[] = [];
        const pool = queue.run(
          { onError: (error, item) => (seen.push(`${item}: ${String(error)}`), 'drop'), ...(logger && { logger }) },
          async () => {
            throw new Error('forbidden');
          },
        );
        queue.add('a');
        await vi.waitFor(() => expect(seen).toEqual(['a: Error: forbidden']));
        await pool.stop();
      }
      expect(write).not.toHaveBeenCalled();
      expect(entries).toEqual(['error work failed, dropping the item a 1: Error: forbidden']);
    } finally {
      write.mockRestore();
    }
  });

  it('go to a logger that throws, without an effect on the work', async () => {
    const queue = createRateLimitingQueue({ clock: new FakeClock() });
    const broken = new Proxy(recordingLogger([]), {
      get: () => () => {
        throw new Error('disk full');
      },
    });
    const pool = queue.run({ logger: broken, onError: () => 'drop' }, () => {
      throw new Error('forbidden');
    });
    queue.add('a');
    queue.shutDown();
    await pool.ended;
  });

  it('need a logger that is one', () => {
    expect(() => createRateLimitingQueue().run({ logger: 5 as never }, () => undefined)).toThrow(/logger/);
  });
});

describe('WorkerPool', () => {
  it('lets others run every few ms, with synchronous work', async () => {
    const queue = createWorkQueue({ clock: new BusyClock() });
    for (let number = 0; number < 1000; number++) queue.add(`key-${number}`);
    let done = 0;
    const pool = queue.run({}, () => {
      done++;
    });
    const seen: number[] = [];
    while (done < 1000) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(done);
    }
    expect(seen.length).toBeGreaterThan(10);
    await pool.stop();
  });

  it('lets others run every few ms, with work that settles at once', async () => {
    const queue = createWorkQueue({ clock: new BusyClock() });
    for (let number = 0; number < 1000; number++) queue.add(`key-${number}`);
    let done = 0;
    const pool = queue.run({}, async () => {
      done++;
    });
    const seen: number[] = [];
    while (done < 1000) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(done);
    }
    expect(seen.length).toBeGreaterThan(10);
    await pool.stop();
  });

  it('takes nothing before the step that started it has ended', async () => {
    const queue = createWorkQueue();
    queue.add('a');
    let isHere = false;
    const pool = queue.run({}, () => expect(isHere).toBe(true));
    isHere = true;
    await pool.stop();
  });

  it('stops on a failure by default on a queue without rate limiter, and tells the other workers', async () => {
    const queue = createWorkQueue();
    const failure = new Error('broken');
    let told: unknown;
    const pool = queue.run({ concurrency: 2 }, (item, { signal }) => {
      if (item === 'bad') throw failure;
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          told = signal.reason;
          resolve();
        });
      });
    });
    queue.add('good');
    queue.add('bad');
    const error: unknown = await pool.ended.catch((reason: unknown) => reason);
    expect(isWorkFailedError(error)).toBe(true);
    expect(error).toMatchObject({ message: 'work on "bad" failed: broken', item: 'bad', cause: failure });
    await expect(pool.stop()).rejects.toBe(error);
    expect([told, queue.processing]).toEqual([error, 0]);
    // The failed key is not lost: a pool that is started again gets it.
    expect(queue.tryGet()).toBe('bad');
  });

  it('rejects with what onError throws', async () => {
    const queue = createRateLimitingQueue({ clock: new FakeClock() });
    const broken = new Error('in onError');
    queue.add('a');
    const pool = queue.run(
      {
        onError: () => {
          throw broken;
        },
      },
      () => Promise.reject(new Error('in work')),
    );
    await expect(pool.ended).rejects.toBe(broken);
  });

  it.each([
    ['when', 0],
    ['forget', 1],
  ] as const)('rejects with what %s of a rate limiter throws, and keeps its books', async (method, fails) => {
    for (const create of [createRateLimitingQueue<string>, createPriorityQueue<string>]) {
      const broken = new Error('broken limiter');
      const rateLimiter = {
        when: () => Number.NaN,
        forget: () => {
          throw broken;
        },
        numRequeues: () => 0,
      };
      const queue = create({ clock: new FakeClock(), rateLimiter });
      queue.add('a');
      const pool = queue.run({}, () => (fails === 0 ? Promise.reject(new Error('in work')) : undefined));
      await expect(pool.ended).rejects.toThrow(method === 'forget' ? 'broken limiter' : 'is NaN');
      expect([queue.processing, queue.delayed]).toEqual([0, 0]);
    }
  });

  it('counts the attempts also where the limiter counts none, and from 1 again after a success', async () => {
    const clock = new FakeClock();
    const queues = {
      bucket: createRateLimitingQueue({ clock, rateLimiter: bucketRateLimiter({ clock }) }),
      'bucket, by priority': createPriorityQueue({ clock, rateLimiter: bucketRateLimiter({ clock }) }),
      plain: createWorkQueue(),
      delaying: createDelayingQueue({ clock }),
    };
    for (const [name, queue] of Object.entries(queues)) {
      const attempts: number[] = [];
      let failures = 3;
      const pool = queue.run(
        {
          onError: (_error, _item, attempt) => {
            attempts.push(attempt);
            return 'retry';
          },
        },
        () => {
          if (failures-- > 0) throw new Error('not yet');
        },
      );
      queue.add('a');
      await clock.advance(1_000);
      failures = 1;
      queue.add('a');
      await clock.advance(1_000);
      expect([name, attempts]).toEqual([name, [1, 2, 3, 1]]);
      await pool.stop();
    }
  });

  it('starts counting attempts again when the key is forgotten', async () => {
    const clock = new FakeClock();
    const queue = createRateLimitingQueue({ clock, rateLimiter: bucketRateLimiter({ clock }) });
    const attempts: number[] = [];
    const pool = queue.run(
      {
        onError: (_error, item, attempt) => {
          attempts.push(attempt);
          queue.forget(item);
          return attempts.length < 3 ? 'retry' : 'drop';
        },
      },
      () => Promise.reject(new Error('never')),
    );
    queue.add('a');
    await clock.advance(1_000);
    expect(attempts).toEqual([1, 1, 1]);
    await pool.stop();
  });

  it('ends only when a key that another worker holds cannot come back any more', async () => {
    const queue = createWorkQueue();
    queue.add('a');
    const held = queue.tryGet();
    queue.add('a');
    const seen: string[] = [];
    const pool = queue.run({}, (item) => void seen.push(item));
    let hasEnded = false;
    const ended = pool.ended.then(() => (hasEnded = true));
    queue.shutDown();
    await settle();
    expect([held, hasEnded]).toEqual(['a', false]);
    queue.done('a');
    await ended;
    expect(seen).toEqual(['a']);
  });

  it('pauses with a concurrency of 0', async () => {
    const queue = createWorkQueue();
    const seen: string[] = [];
    const pool = queue.run({ concurrency: 0 }, (item) => void seen.push(item));
    queue.add('a');
    await settle();
    expect(seen).toEqual([]);
    pool.concurrency = 1;
    await settle();
    expect(seen).toEqual(['a']);
    await pool.stop();
  });

  it.each([-1, 1.5, Number.NaN])('refuses a concurrency of %d', (concurrency) => {
    const queue = createWorkQueue();
    let thrown: unknown;
    try {
      queue.run({ concurrency }, () => undefined);
    } catch (error) {
      thrown = error;
    }
    expect(isQueueArgumentError(thrown)).toBe(true);
  });

  it('leaves no listener on its signal, and starts nothing where it is aborted already', async () => {
    const queue = createWorkQueue();
    queue.add('a');
    const { signal } = Object.assign(new AbortController());
    const counts = { added: 0, removed: 0 };
    const counting = Object.assign(Object.create(signal) as AbortSignal, {
      addEventListener: () => counts.added++,
      removeEventListener: () => counts.removed++,
    });
    Object.defineProperty(counting, 'aborted', { value: false });
    const pool = queue.run({ signal: counting }, () => undefined);
    await settle();
    await pool.stop();
    expect(counts).toEqual({ added: 1, removed: 1 });
    queue.add('b');
    await queue.run({ signal: AbortSignal.abort() }, () => expect.unreachable()).ended;
    expect(queue.length).toBe(1);
  });

  it('keeps books when the work itself calls done', async () => {
    const queue = createWorkQueue();
    for (const item of ['a', 'b']) queue.add(item);
    const pool = queue.run({}, (item) => queue.done(item));
    await settle();
    expect([queue.processing, queue.length]).toEqual([0, 0]);
    await pool.stop();
  });

  it('lets work in progress come to its end on stop, and interrupts it by its signal', async () => {
    for (const way of ['stop', 'abort'] as const) {
      const queue = createWorkQueue();
      const abort = new AbortController();
      queue.add('a');
      const seen: boolean[] = [];
      const pool = queue.run({ signal: abort.signal }, async (_item, { signal }) => {
        await settle();
        seen.push(signal.aborted);
      });
      await Promise.resolve();
      await Promise.resolve();
      if (way === 'abort') abort.abort();
      await pool.stop();
      expect(seen).toEqual([way === 'abort']);
    }
  });

  it('is disposed of by await using, after the work in progress', async () => {
    const queue = createWorkQueue();
    queue.add('a');
    let isDone = false;
    {
      await using pool = queue.run({}, async () => {
        await settle();
        isDone = true;
      });
      await settle();
      expect(pool.active).toBe(1);
    }
    expect(isDone).toBe(true);
  });
});

describe('many keys that fall due together', () => {
  it('do not hold the event loop', async () => {
    const queue = createDelayingQueue({ clock: systemClock });
    const keys = 200_000;
    const dueAt = performance.now() + 700;
    for (let number = 0; number < keys; number++) queue.addAfter(`key-${number}`, dueAt - performance.now());
    let turns = 0;
    const pool = queue.run({}, () => undefined);
    while (queue.delayed === keys) await new Promise((resolve) => setImmediate(resolve));
    while (queue.delayed > 0) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(turns).toBeGreaterThan(3);
    await queue.shutDownWithDrain();
    await pool.ended;
  });
});
