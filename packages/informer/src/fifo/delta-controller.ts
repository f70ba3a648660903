import type { DeepReadonly, KindScope, KubeObject, Persisted } from '@kctl/apimachinery';
import { slicerOf } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import { functionOption, requireOptions, requireSignal, shownValue } from '@kctl/options';
import { isAbortError, systemClock } from '@kctl/wait';
import { InformerStartedError, InformerStoppedError } from '../errors.js';
import { failureLogger } from '../failure-logger.js';
import { guardedHook } from '../guarded-hook.js';
import type { Reflector, ReflectorOptions } from '../reflector/create-reflector.js';
import { createReflector, reflectorOptionNames } from '../reflector/create-reflector.js';
import { hasMethods, requireThat } from '../required.js';
import type { Deltas } from './delta.js';
import { isFifoClosed } from './errors.js';
import type { InformerWaitOptions } from '../waiters.js';
import type { BatchInfo, PopInfo, Queue, QueueWithBatch } from './queue.js';

/** Options of {@link createDeltaController}, which are a reflector's options without the store. */
export interface DeltaControllerOptions<
  T extends KubeObject,
  S extends KindScope = KindScope,
  Item = Deltas<DeepReadonly<T & Persisted<S>>>,
> extends Omit<ReflectorOptions<T, S>, 'store'> {
  /** The reflector feeds it, and `process` gets what it hands out. The controller closes it at its end. */
  readonly queue: Queue<DeepReadonly<T & Persisted<S>>, Item>;
  /** Applies what happened to one object, e.g. to a store, and calls handlers. */
  readonly process: (item: Item, info: PopInfo) => void | Promise<void>;
  /**
   * Applies deltas of several objects at once, if the queue hands out batches ({@link QueueWithBatch}, such as that of
   * `createRealFifo`). `process` then gets single deltas; of another queue, all.
   *
   * @default none, items are processed one by one
   */
  readonly processBatch?: (batch: Item, info: BatchInfo) => void | Promise<void>;
  /**
   * Receives what `process` and `processBatch` throw; the deltas are gone unless it was a RequeueError to a DeltaFIFO.
   *
   * @default errors are logged, to standard error if there is no `logger`
   */
  readonly onProcessError?: (error: unknown) => void;
}

/** Options of {@link createDeltaController} for a consumer with batches only. */
export interface BatchControllerOptions<
  T extends KubeObject,
  S extends KindScope = KindScope,
  Item = Deltas<DeepReadonly<T & Persisted<S>>>,
> extends Omit<DeltaControllerOptions<T, S, Item>, 'queue' | 'process' | 'processBatch'> {
  readonly queue: QueueWithBatch<DeepReadonly<T & Persisted<S>>, Item>;
  /** Gets batches of one, too. */
  readonly processBatch: (batch: Item, info: BatchInfo) => void | Promise<void>;
  readonly process?: undefined;
}

/**
 * client-go's low-level controller, a reflector that feeds a queue, and a loop that processes its deltas. A
 * {@link SharedInformer} does the same without a queue of deltas. Mirrors `cache.Controller`.
 */
export interface DeltaController {
  readonly reflector: Reflector;
  /** Whether the initial list has been processed. */
  readonly hasSynced: boolean;
  /**
   * Resolves when {@link hasSynced}.
   *
   * @throws InformerStoppedError when the controller ends before that; Error after `timeoutMs`; the signal's reason
   */
  waitForSync(options?: InformerWaitOptions): Promise<void>;
  /**
   * Runs until the signal aborts, or the queue was closed and is empty, and the `process` in progress has ended. Deltas
   * queued when the signal aborts are not processed.
   *
   * A controller runs once.
   *
   * @throws as {@link Reflector.run}
   */
  run(signal: AbortSignal): Promise<void>;
}

const { store: _store, ...reflectorNames } = reflectorOptionNames;
const optionNames: OptionNames<DeltaControllerOptions<KubeObject>> = {
  ...reflectorNames,
  queue: true,
  process: true,
  processBatch: functionOption,
  onProcessError: functionOption,
};

/**
 * Makes a controller. It does nothing until it runs.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createDeltaController, createDeltaFifo, listerWatcherFor } from '@kctl/informer';
 *
 * const controller = createDeltaController<Pod>({
 *   kind: Pod,
 *   listerWatcher: listerWatcherFor(client, Pod),
 *   queue: createDeltaFifo(),
 *   process: (deltas, { key }) => console.log(key, deltas.length),
 * });
 * await controller.run(signal);
 * ```
 */
export function createDeltaController<
  T extends KubeObject,
  S extends KindScope = KindScope,
  Item = Deltas<DeepReadonly<T & Persisted<S>>>,
>(options: DeltaControllerOptions<T, S, Item>): DeltaController;
export function createDeltaController<
  T extends KubeObject,
  S extends KindScope = KindScope,
  Item = Deltas<DeepReadonly<T & Persisted<S>>>,
>(options: BatchControllerOptions<T, S, Item>): DeltaController;
export function createDeltaController<T extends KubeObject, S extends KindScope, Item>(
  options: DeltaControllerOptions<T, S, Item> | BatchControllerOptions<T, S, Item>,
): DeltaController {
  requireOptions<object>('createDeltaController', options, optionNames);
  const { queue, process: _process, processBatch: _processBatch, onProcessError, ...rest } = options;
  requireThat(hasMethods(queue, ['pop', 'close']), 'createDeltaController: queue', {
    value: queue,
    expected: 'a queue, such as createDeltaFifo() or createRealFifo()',
  });
  const pop = popOf(options);
  const reflector = createReflector<T, S>({ ...rest, store: queue });
  const failures = failureLogger(options.logger);
  const report =
    onProcessError === undefined
      ? (error: unknown): void => failures.error('processing deltas failed', { error, kind: options.kind.kind })
      : guardedHook((error: unknown) => onProcessError(error), 'onProcessError', failures);
  const slicer = slicerOf(options.clock ?? systemClock);
  const popAll = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await pop(signal);
        if (slicer.isOver) await slicer.breathe();
      } catch (error) {
        // Of another queue, or of another signal, it is a failure of the process function.
        if (queue.isClosed && isFifoClosed(error)) return;
        if (signal.aborted && (error === signal.reason || isAbortError(error))) return;
        report(error);
        // Deltas that are requeued again and again must not hold the event loop.
        await slicer.breathe();
      }
    }
  };
  let isStarted = false;
  const over = new AbortController();
  const stopped = (): InformerStoppedError =>
    new InformerStoppedError(`controller of ${options.kind.kind} has ended before it has synced`);
  return {
    reflector,
    waitForSync: async (waiting = {}) => {
      const signals = [over.signal, ...(waiting.signal === undefined ? [] : [waiting.signal])];
      await queue.waitForSync({ ...waiting, signal: AbortSignal.any(signals) });
    },
    get hasSynced() {
      return queue.hasSynced;
    },
    async run(signal) {
      requireSignal('DeltaController.run', signal);
      // Before anything is done, because the end of a second run would close the queue of the first.
      if (isStarted)
        throw new InformerStartedError(`controller of ${options.kind.kind} was started already; make another one`);
      isStarted = true;
      const ending = new AbortController();
      const either = AbortSignal.any([signal, ending.signal]);
      // Without a consumer the queue would only grow.
      const popping = popAll(either).finally(() => ending.abort());
      try {
        await reflector.run(either);
      } finally {
        ending.abort();
        queue.close();
        await popping;
        over.abort(stopped());
      }
    },
  };
}

/** How the queue is popped, in batches if both it and the consumer support them. */
function popOf<T extends KubeObject, S extends KindScope, Item>({
  queue,
  process,
  processBatch,
}: DeltaControllerOptions<T, S, Item> | BatchControllerOptions<T, S, Item>): (signal: AbortSignal) => Promise<unknown> {
  const isProcess = typeof process === 'function';
  if (processBatch !== undefined && hasBatches(queue) && (isProcess || process === undefined)) {
    const single = isProcess ? { single: process } : {};
    return (signal) => queue.popBatch(processBatch, { signal, ...single });
  }
  if (isProcess) return (signal) => queue.pop(process, { signal });
  const expected =
    processBatch === undefined || process !== undefined
      ? 'a function of deltas'
      : 'a function of deltas, as the queue has no popBatch: createRealFifo() makes one that has';
  throw new TypeError(`createDeltaController: process ${shownValue(process)} is not valid: expected ${expected}`);
}

function hasBatches<T, Item>(queue: Queue<T, Item>): queue is QueueWithBatch<T, Item> {
  return hasMethods(queue, ['popBatch']);
}
