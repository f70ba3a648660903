import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { ReadObject } from '@kctl/client';
import { Turn } from '@kctl/delivery';
import type { OptionNames } from '@kctl/options';
import { requireOptions } from '@kctl/options';
import { orAborted, sleep } from '@kctl/wait';
import type { EventHandler } from '../handler/event-handler.js';
import { createGenerationCheck } from '../predicate/generation.js';
import type { Predicate } from '../predicate/predicate.js';
import { EventDispatcher } from './event-dispatcher.js';
import { forward, replayInformer, waitForHandler } from './informer-source.js';
import type { InformerLoan, InformerProvider, InformerRegistration } from './informer-provider.js';
import { replayContext } from './replay-context.js';
import {
  requireHandler,
  requireInformer,
  requireLoan,
  requirePredicates,
  requireRegistration,
} from '../event/required.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** Interval of requests for the informer of a kind that is not available. As in `source.Kind`. */
export const informerRetryMs = 10_000;

/** Options of {@link kindSource}. */
export interface KindSourceOptions<K extends Kind, R> {
  readonly informers: InformerProvider;
  readonly kind: K;
  readonly handler: EventHandler<ReadObject<K>, R>;
  /** All must agree; called in order. @default none */
  readonly predicates?: readonly Predicate<ReadObject<K>>[];
  /**
   * Maximum number of objects for which the handler runs at the same time, if it waits for look-ups. An integer ≥ 1.
   * Events of one object stay in order; with more than 1, those of different objects overtake one another.
   *
   * @default 1
   */
  readonly handlerConcurrency?: number | undefined;
}

const optionNames: OptionNames<KindSourceOptions<never, never>> = {
  informers: true,
  kind: true,
  handler: true,
  predicates: true,
  handlerConcurrency: true,
};

/**
 * Events of all objects of a kind that the provider's informer sees. A kind that cannot be watched yet (its CRD is
 * missing, the server is down) is requested again at once and then every 10 s. Mirrors `source.Kind`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createController, enqueueRequestForObject, kindSource } from '@kctl/controller';
 *
 * const controller = createController({
 *   name: 'settings',
 *   reconciler: async ({ name }) => console.log(name),
 * });
 * controller.watch(kindSource({ informers: manager.cache, kind: ConfigMap, handler: enqueueRequestForObject() }));
 * ```
 */
export function kindSource<K extends Kind, R>(options: KindSourceOptions<K, R>): Source<R> {
  return scopedKindSource(options);
}

/** The same, which also reports objects that left the watched namespaces, which are not events of the source. */
export function scopedKindSource<K extends Kind, R>(
  options: KindSourceOptions<K, R>,
  onLeave?: (header: ObjectHeader) => void,
): Source<R> {
  requireOptions('kindSource', options, optionNames);
  requireKindSource(options);
  const { kind, informers } = options;
  const turn = new Turn();
  const shape = kind.shape === 'full' ? '' : ` (${kind.shape})`;
  const name = `kind source: ${formatGroupKind(kind)}${shape}`;
  return {
    name,
    kind,
    informers,
    start: (context): Promise<StartedSource> =>
      Promise.resolve(new StartedKindSource({ ...options, name, turn, onLeave }, context)),
  };
}

type StartedKindSourceOptions<K extends Kind, R> = KindSourceOptions<K, R> & {
  readonly name: string;
  readonly turn: Turn;
  readonly onLeave: ((header: ObjectHeader) => void) | undefined;
};

/** One start of a kind source. Waits for the informer, then for its list. */
class StartedKindSource<K extends Kind, R> implements StartedSource {
  readonly #options: StartedKindSourceOptions<K, R>;
  readonly #context: SourceContext<R>;
  readonly #dispatcher: EventDispatcher<ReadObject<K>, R>;
  #replaying: EventDispatcher<ReadObject<K>, R> | undefined;
  #replayed: Promise<void> | undefined;
  readonly #attached: Promise<InformerRegistration | undefined>;
  #loan: InformerLoan<ReadObject<K>> | undefined;
  #lastError: unknown;

  constructor(options: StartedKindSourceOptions<K, R>, context: SourceContext<R>) {
    this.#options = options;
    this.#context = context;
    this.#dispatcher = this.#newDispatcher(context);
    this.#attached = this.#attach();
    this.#attached.catch((error: unknown) => context.fail(error));
  }

  async waitForSync(signal: AbortSignal): Promise<void> {
    try {
      const registration = await orAborted(this.#attached, signal);
      if (registration !== undefined) await orAborted(waitForHandler(registration, this.#dispatcher, signal), signal);
    } catch (error) {
      throw (this.#loan === undefined ? this.#lastError : this.#loan.informer.lastError) ?? error;
    }
  }

  async replay(): Promise<void> {
    if (this.#loan === undefined) return;
    // One for all replays. A replay that failed is tried again, and the signal keeps no listener for each.
    this.#replaying ??= this.#newDispatcher(replayContext(this.#context));
    this.#replayed = replayInformer(this.#loan.informer, this.#replaying, this.#context.signal);
    await this.#replayed;
  }

  async stop(): Promise<void> {
    try {
      const registration = await this.#attached.catch((): InformerRegistration | undefined => undefined);
      await registration?.remove();
      await this.#replayed?.catch(() => undefined); // its handler goes with it
    } finally {
      await this.#loan?.[Symbol.asyncDispose]();
    }
  }

  /** Attaches the handler as soon as the provider can give an informer; undefined when the watch ends first. */
  async #attach(): Promise<InformerRegistration | undefined> {
    const { informers, kind, onLeave, predicates = [] } = this.#options;
    const { signal, clock, logger } = this.#context;
    const check = createGenerationCheck({ predicates, kind, logger });
    while (!signal.aborted) {
      try {
        const loan = await borrow(informers, kind, signal);
        if (signal.aborted) {
          await loan[Symbol.asyncDispose]();
          return undefined;
        }
        this.#loan = loan;
      } catch (error) {
        if (signal.aborted) return undefined;
        this.#lastError = error;
        logger.error(
          'failed to get informer from cache, will try again; a CRD must be installed before its kind is watched',
          { kind: formatGroupKind(kind), error, retryInMs: informerRetryMs },
        );
        await sleep(informerRetryMs, { clock, signal }).catch(() => undefined);
        continue;
      }
      const registration = this.#loan.informer.addEventHandler(forward(this.#dispatcher, { onLeave, check }));
      requireRegistration(registration);
      return registration;
    }
    return undefined;
  }

  #newDispatcher(context: SourceContext<R>): EventDispatcher<ReadObject<K>, R> {
    const { name, handler, predicates = [], turn, handlerConcurrency } = this.#options;
    return new EventDispatcher({ source: name, handler, predicates, turn, handlerConcurrency, context });
  }
}

/** An informer of the provider. On loan if the provider lends, so that it may end with the last watch of its kind. */
async function borrow<K extends Kind>(
  informers: InformerProvider,
  kind: K,
  signal: AbortSignal,
): Promise<InformerLoan<ReadObject<K>>> {
  if (informers.acquire !== undefined) {
    const loan = informers.acquire(kind);
    requireLoan(loan);
    return loan;
  }
  const informer = await orAborted(Promise.resolve(informers.informer(kind, { signal })), signal);
  requireInformer('informer of the informers', informer);
  return { informer, [Symbol.asyncDispose]: () => Promise.resolve() };
}

function requireKindSource(options: {
  readonly informers: unknown;
  readonly kind: Kind;
  readonly handler: unknown;
  readonly predicates?: unknown;
  readonly handlerConcurrency?: unknown;
}): void {
  const { informers, kind, handler, predicates, handlerConcurrency } = options;
  if (typeof kind !== 'object' || kind === null || !('plural' in kind))
    throw new TypeError('kindSource: kind is not valid: expected a kind, such as one of defineKind(…)');
  const what = `kindSource ${formatGroupKind(kind)}`;
  const canInform =
    typeof informers === 'object' &&
    informers !== null &&
    'informer' in informers &&
    typeof informers.informer === 'function';
  if (!canInform) throw new TypeError(`${what}: informers is not valid: expected a cache, such as manager.cache`);
  requireHandler(what, handler, handlerConcurrency);
  requirePredicates(what, predicates);
}
