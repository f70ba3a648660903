import type { DeepReadonly, Kind, ObjectOf } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/wire';
import { sleep } from '@kctl/wait';
import type { EventHandler } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import { orAborted } from '../or-aborted.js';
import { EventDispatcher } from './event-dispatcher.js';
import { forward, waitForHandler } from './informer-source.js';
import type { EventInformer, InformerProvider, InformerRegistration } from './informer-provider.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** How long a source waits before it asks again for the informer of a kind that is not there. As in `source.Kind`. */
export const informerRetryMs = 10_000;

/** Options of {@link kindSource}. */
export interface KindSourceOptions<K extends Kind, R> {
  readonly informers: InformerProvider;
  readonly kind: K;
  readonly handler: EventHandler<DeepReadonly<ObjectOf<K>>, R>;
  /** All must agree; asked in order. @default none */
  readonly predicates?: readonly Predicate<DeepReadonly<ObjectOf<K>>>[];
}

/**
 * Events of all objects of a kind that the provider's informer sees. A kind that cannot be watched yet (its CRD is
 * missing, the server is down) is asked for again at once and then every 10 s. Mirrors `source.Kind`.
 */
export function kindSource<K extends Kind, R>(options: KindSourceOptions<K, R>): Source<R> {
  return scopedKindSource(options);
}

/** The same, which also tells of objects that left the watched namespaces and are none of its events. */
export function scopedKindSource<K extends Kind, R>(
  options: KindSourceOptions<K, R>,
  onLeave?: (header: ObjectHeader) => void,
): Source<R> {
  const { kind, handler, predicates = [] } = options;
  const shape = kind.shape === 'full' ? '' : ` (${kind.shape})`;
  const name = `kind source: ${formatGroupKind(kind)}${shape}`;
  return {
    name,
    start: (context): Promise<StartedSource> => {
      const dispatcher = new EventDispatcher({ source: name, handler, predicates, context });
      let removed = false;
      let lastError: unknown;
      let attachedTo: EventInformer<DeepReadonly<ObjectOf<K>>> | undefined;
      const attached = attach(options, context, (error) => (lastError = error)).then((informer) => {
        attachedTo = informer;
        return removed ? undefined : informer?.addEventHandler(forward(dispatcher, onLeave));
      });
      attached.catch((error: unknown) => context.fail(error));
      return Promise.resolve({
        waitForSync: async (signal) => {
          try {
            const registration = await orAborted(attached, signal);
            if (registration !== undefined) await orAborted(waitForHandler(registration, dispatcher, signal), signal);
          } catch (error) {
            throw attachedTo?.lastError ?? (attachedTo === undefined ? lastError : undefined) ?? error;
          }
        },
        stop: async () => {
          removed = true;
          const registration = await attached.catch((): InformerRegistration | undefined => undefined);
          await registration?.remove();
        },
      });
    },
  };
}

/** The informer, as soon as the provider can give one; undefined when the watch ends first. */
async function attach<K extends Kind, R>(
  { informers, kind }: KindSourceOptions<K, R>,
  { signal, clock, logger }: SourceContext<R>,
  onError: (error: unknown) => void,
): Promise<EventInformer<DeepReadonly<ObjectOf<K>>> | undefined> {
  while (!signal.aborted) {
    try {
      return await informers.informer(kind, { signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      onError(error);
      logger.error(
        'failed to get informer from cache, will try again; a CRD must be installed before its kind is watched',
        {
          kind: formatGroupKind(kind),
          error,
          retryInMs: informerRetryMs,
        },
      );
      await sleep(informerRetryMs, { clock, signal }).catch(() => undefined);
    }
  }
  return undefined;
}
