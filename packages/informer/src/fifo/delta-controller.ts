import type { DeepReadonly, KindScope, KubeObject, Persisted } from '@kctl/apimachinery';
import { slicerOf } from '@kctl/delivery';
import { guardSinks } from '@kctl/telemetry';
import type { OptionNames } from '@kctl/wait';
import { requireOptions, systemClock } from '@kctl/wait';
import { guardedHook } from '../guarded-hook.js';
import type { Reflector, ReflectorOptions } from '../reflector/create-reflector.js';
import { createReflector, reflectorOptionNames } from '../reflector/create-reflector.js';
import { requireThat } from '../required.js';
import type { Deltas } from './delta.js';
import { isFifoClosed } from './errors.js';
import type { PopInfo, Queue } from './queue.js';

/** What {@link createDeltaController} takes: a reflector's options, without the store. */
export interface DeltaControllerOptions<
  T extends KubeObject,
  S extends KindScope = KindScope,
  Item = Deltas<DeepReadonly<T & Persisted<S>>>,
> extends Omit<ReflectorOptions<T, S>, 'store'> {
  /** The reflector feeds it, and `process` gets what it hands out. The controller closes it at its end. */
  readonly queue: Queue<DeepReadonly<T & Persisted<S>>, Item>;
  /** Applies what happened to one object, e.g. to a store, and calls handlers. */
  readonly process: (item: Item, info: PopInfo) => void | Promise<void>;
  /** Receives what `process` throws; the deltas are gone unless it was a RequeueError to a DeltaFIFO. @default logged */
  readonly onProcessError?: (error: unknown) => void;
}

/**
 * client-go's low-level controller: a reflector that feeds a queue, and a loop that processes what comes out of it. A
 * {@link SharedInformer} does the same without a queue of deltas. Mirrors `cache.Controller`.
 */
export interface DeltaController {
  readonly reflector: Reflector;
  /** Whether the initial list has been processed. */
  readonly hasSynced: boolean;
  /**
   * Runs until the signal aborts and the `process` in progress has ended; what is queued then is not processed.
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
  onProcessError: true,
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
>(options: DeltaControllerOptions<T, S, Item>): DeltaController {
  requireOptions<DeltaControllerOptions<T, S, Item>>('createDeltaController', options, optionNames);
  const { queue, process, onProcessError, ...rest } = options;
  const { logger } = guardSinks(options);
  requireThat(typeof process === 'function', 'createDeltaController: process', {
    value: process,
    expected: 'a function of deltas',
  });
  const reflector = createReflector<T, S>({ ...rest, logger, store: queue });
  const report =
    onProcessError === undefined
      ? (error: unknown): void => logger.error('processing deltas failed', { error, kind: options.kind.kind })
      : guardedHook((error: unknown) => onProcessError(error), 'onProcessError', logger);
  const slicer = slicerOf(options.clock ?? systemClock);
  const popAll = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await queue.pop(process, { signal });
        if (slicer.isOver) await slicer.breathe();
      } catch (error) {
        if (signal.aborted || isFifoClosed(error)) return;
        report(error);
        // What is requeued again and again must not keep the event loop.
        await slicer.breathe();
      }
    }
  };
  return {
    reflector,
    get hasSynced() {
      return queue.hasSynced;
    },
    async run(signal) {
      const ending = new AbortController();
      const popping = popAll(AbortSignal.any([signal, ending.signal]));
      try {
        await reflector.run(signal);
      } finally {
        ending.abort();
        queue.close();
        await popping;
      }
    },
  };
}
