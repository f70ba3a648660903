import { formatKey, keyOf, type Kind, type KubeObject, type ObjectKey } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import { intercept, type Client, type SubResourceHooks } from '@kctl/client';
import type { RequestTally } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { Cycle } from './cycle.js';
import { describeFailure } from './describe-failure.js';
import type { HiddenNames } from './hidden-names.js';
import { ownName } from './own-text.js';
import type { CycleStore } from './store.js';

/** Options of {@link observeWrites}. */
export interface WriteObserverOptions {
  readonly store: CycleStore;
  readonly names: HiddenNames;
  readonly clock: Clock;
  readonly recordErrorMessages: boolean;
  /** The tally of the run that goes on in this async context. */
  readonly currentTally: () => RequestTally | undefined;
}

interface About {
  readonly verb: string;
  readonly kind: Kind;
  readonly groupKind: string;
  readonly subresource?: string;
  /** Undefined for a generated name, and a collection. */
  readonly key: string | undefined;
  readonly isDryRun: boolean;
}

/** A client whose writes are recorded for the run that sends them; those of no run pass through. */
export function observeWrites(client: Client, options: WriteObserverOptions): Client {
  const { store, names, clock, currentTally, recordErrorMessages: withMessages } = options;
  const observed = async <T>(describe: () => About, send: () => Promise<T>): Promise<T> => {
    const cycle = currentTally();
    const about = cycle instanceof Cycle ? described(describe) : undefined;
    if (!(cycle instanceof Cycle) || about === undefined || about.isDryRun) return await send();
    const { verb, kind, groupKind, subresource = '', key } = about;
    const started = clock.monotonicNow();
    const add = (name: string | undefined, resourceVersion: string, failure: string | undefined): void => {
      const object = name === undefined ? '' : names.isSecretKind(groupKind) ? names.hide(name) : ownName(name);
      const ms = clock.monotonicNow() - started;
      store.addWrite(cycle, {
        at: clock.now(),
        ms,
        verb,
        kind: groupKind,
        subresource,
        object,
        resourceVersion: ownName(resourceVersion),
        failure,
      });
    };
    try {
      const answer = await send();
      const found = identityOf(answer, kind);
      add(key ?? found?.key, found?.resourceVersion ?? '', undefined);
      return answer;
    } catch (error) {
      add(key, '', describeFailure(error, { withMessages }));
      throw error;
    }
  };
  return intercept(client, (next) => ({
    create: (kind, object, given) =>
      observed(
        () => {
          const { name, namespace } = asObject(object).metadata;
          const key = name === undefined || name === '' ? undefined : formatKey({ name, namespace: namespace ?? '' });
          return aboutOf('create', kind, key, given);
        },
        () => next.create(kind, object, given),
      ),
    update: (kind, object, given) =>
      observed(
        () => aboutOf('update', kind, formatKey(keyOf(asObject(object))), given),
        () => next.update(kind, object, given),
      ),
    patch: (kind, key, patch, given) =>
      observed(
        () => aboutOf(patch.type === 'apply' ? 'apply' : 'patch', kind, formatKey(key), given),
        () => next.patch(kind, key, patch, given),
      ),
    delete: (kind, key, given) =>
      observed(
        () => aboutOf('delete', kind, formatKey(key), given),
        () => next.delete(kind, key, given),
      ),
    deleteAllOf: (kind, given) =>
      observed(
        () => aboutOf('deletecollection', kind, given?.namespace, given),
        () => next.deleteAllOf(kind, given),
      ),
    subResource: <K extends Kind, B extends object>(kind: K, name: string): SubResourceHooks<K, B> => {
      const inner = next.subResource<K, B>(kind, name);
      const about = (verb: string, key: ObjectKey, given: Given) => (): About => ({
        ...aboutOf(verb, kind, formatKey(key), given),
        subresource: name,
      });
      return {
        create: (key, body, given) => observed(about('create', key, given), () => inner.create(key, body, given)),
        update: (key, body, given) => observed(about('update', key, given), () => inner.update(key, body, given)),
        patch: (key, patch, given) => observed(about('patch', key, given), () => inner.patch(key, patch, given)),
      };
    },
  }));
}

type Given = { readonly dryRun?: boolean } | undefined;

function aboutOf(verb: string, kind: Kind, key: string | undefined, given: Given): About {
  return { verb, kind, groupKind: formatGroupKind(kind), key, isDryRun: given?.dryRun === true };
}

/** Undefined for arguments that are not valid, because the client refuses those with specific messages. */
function described(describe: () => About): About | undefined {
  try {
    return describe();
  } catch {
    return undefined;
  }
}

/** The object that an answer returns for a write; undefined if it is not that object. */
function identityOf(
  answer: unknown,
  kind: Kind,
): { readonly key: string; readonly resourceVersion: string } | undefined {
  if (typeof answer !== 'object' || answer === null || !('metadata' in answer)) return undefined;
  if ('kind' in answer && answer.kind !== kind.kind) return undefined;
  const { metadata } = answer;
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return undefined;
  const { name } = metadata;
  if (typeof name !== 'string') return undefined;
  const namespace = 'namespace' in metadata && typeof metadata.namespace === 'string' ? metadata.namespace : '';
  const version = 'resourceVersion' in metadata ? metadata.resourceVersion : undefined;
  return { key: formatKey({ namespace, name }), resourceVersion: typeof version === 'string' ? version : '' };
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function asObject(object: object): KubeObject {
  return object as KubeObject;
}
