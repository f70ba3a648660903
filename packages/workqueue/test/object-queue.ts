import { createPriorityQueue } from '../src/index.js';
import type {
  AddOptions,
  Debounce,
  GetOptions,
  PrioritizedItem,
  PriorityQueue,
  RateLimiter,
  RequeueCause,
  RunOptions,
  WorkerPool,
  WorkFunction,
} from '../src/index.js';
import type { QueueSetup } from '../src/conformance/index.js';

interface Wrapped {
  readonly namespace: string;
  readonly name: string;
}

const wrap = (item: string): Wrapped => ({ namespace: 'test', name: item });
const unwrapLimiter = (limiter: RateLimiter<string>): RateLimiter<Wrapped> => ({
  when: (item, cause) => limiter.when(item.name, cause),
  forget: (item) => limiter.forget(item.name),
  numRequeues: (item) => limiter.numRequeues(item.name),
});

/** Not a generator: that one answers `return()` only after the `next()` that waits. */
function names(items: AsyncIterableIterator<Wrapped>): AsyncIterableIterator<string> {
  const unwrap = (result: IteratorResult<Wrapped>): IteratorResult<string> =>
    result.done === true ? result : { value: result.value.name };
  return {
    next: async () => unwrap(await items.next()),
    return: async () => unwrap((await items.return?.()) ?? { done: true, value: undefined }),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** A composed implementation: a queue of strings over a priority queue of objects, each add with a new object. */
export function createObjectQueue(setup: QueueSetup): PriorityQueue<string> {
  const { clock, rateLimiter } = setup;
  const inner = createPriorityQueue<Wrapped>({
    clock,
    ...(rateLimiter === undefined ? {} : { rateLimiter: unwrapLimiter(rateLimiter) }),
  });
  const unwrapNext = (next: PrioritizedItem<Wrapped> | undefined): PrioritizedItem<string> | undefined =>
    next === undefined ? undefined : { ...next, item: next.item.name };
  return {
    get length() {
      return inner.length;
    },
    get processing() {
      return inner.processing;
    },
    get delayed() {
      return inner.delayed;
    },
    get shuttingDown() {
      return inner.shuttingDown;
    },
    add: (item) => inner.add(wrap(item)),
    addAfter: (item, delayMs) => inner.addAfter(wrap(item), delayMs),
    addDebounced: (item, debounce: Debounce) => inner.addDebounced(wrap(item), debounce),
    addRateLimited: (item, cause?: RequeueCause) => inner.addRateLimited(wrap(item), cause),
    addWith: (options: AddOptions, ...items) => inner.addWith(options, ...items.map(wrap)),
    forget: (item) => inner.forget(wrap(item)),
    numRequeues: (item) => inner.numRequeues(wrap(item)),
    get: async (options?: GetOptions) => (await inner.get(options))?.name,
    tryGet: () => inner.tryGet()?.name,
    getWithPriority: async (options?: GetOptions) => unwrapNext(await inner.getWithPriority(options)),
    tryGetWithPriority: () => unwrapNext(inner.tryGetWithPriority()),
    done: (item) => inner.done(wrap(item)),
    run: (options: RunOptions<string>, work: WorkFunction<string>): WorkerPool => {
      const { onError, ...rest } = options;
      return inner.run(
        {
          ...rest,
          ...(onError === undefined ? {} : { onError: (error, item, attempt) => onError(error, item.name, attempt) }),
        },
        (item, context) => work(item.name, context),
      );
    },
    items: (options?: GetOptions) => names(inner.items(options)),
    [Symbol.asyncIterator]: (options?: GetOptions) => names(inner.items(options)),
    shutDown: () => inner.shutDown(),
    shutDownWithDrain: () => inner.shutDownWithDrain(),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}
