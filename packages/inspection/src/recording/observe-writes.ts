import { formatGroupKind, formatKey, keyOf, type Kind, type KubeObject, type ObjectKey } from '@kctl/apimachinery';
import { intercept, type Client, type SubResourceHooks } from '@kctl/client';
import type { RequestTally } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { Cycle } from './cycle.js';
import { describeFailure } from './describe-failure.js';
import type { HiddenNames } from './hidden-names.js';
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
  readonly subresource?: string;
  /** Undefined for a generated name, and a collection. */
  readonly key: string | undefined;
  readonly isDryRun: boolean;
}

/** A client whose writes are recorded for the run that sends them; those of no run pass through. */
export function observeWrites(client: Client, options: WriteObserverOptions): Client {
  const { store, names, clock, currentTally, recordErrorMessages: withMessages } = options;
  const observed = async <T>(about: About, send: () => Promise<T>): Promise<T> => {
    const cycle = currentTally();
    if (!(cycle instanceof Cycle) || about.isDryRun) return await send();
    const { verb, kind, subresource = '', key } = about;
    const started = clock.monotonicNow();
    const add = (name: string | undefined, resourceVersion: string, failure: string | undefined): void => {
      const groupKind = formatGroupKind(kind);
      const object = name === undefined ? '' : names.isSecretKind(groupKind) ? names.hide(name) : name;
      const ms = clock.monotonicNow() - started;
      store.addWrite(cycle, {
        at: clock.now(),
        ms,
        verb,
        kind: groupKind,
        subresource,
        object,
        resourceVersion,
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
    create: (kind, object, given) => {
      const { name, namespace } = asObject(object).metadata;
      const key = name === undefined || name === '' ? undefined : formatKey({ name, namespace: namespace ?? '' });
      const about = { verb: 'create', kind, key, isDryRun: given?.dryRun === true };
      return observed(about, () => next.create(kind, object, given));
    },
    update: (kind, object, given) => {
      const about = { verb: 'update', kind, key: formatKey(keyOf(asObject(object))), isDryRun: given?.dryRun === true };
      return observed(about, () => next.update(kind, object, given));
    },
    patch: (kind, key, patch, given) => {
      const verb = patch.type === 'apply' ? 'apply' : 'patch';
      const about = { verb, kind, key: formatKey(key), isDryRun: given?.dryRun === true };
      return observed(about, () => next.patch(kind, key, patch, given));
    },
    delete: (kind, key, given) => {
      const about = { verb: 'delete', kind, key: formatKey(key), isDryRun: given?.dryRun === true };
      return observed(about, () => next.delete(kind, key, given));
    },
    deleteAllOf: (kind, given) => {
      const about = { verb: 'deletecollection', kind, key: given?.namespace, isDryRun: given?.dryRun === true };
      return observed(about, () => next.deleteAllOf(kind, given));
    },
    subResource: <K extends Kind, B extends object>(kind: K, name: string): SubResourceHooks<K, B> => {
      const inner = next.subResource<K, B>(kind, name);
      const about = (verb: string, key: ObjectKey, given: { readonly dryRun?: boolean } | undefined): About => ({
        verb,
        kind,
        subresource: name,
        key: formatKey(key),
        isDryRun: given?.dryRun === true,
      });
      return {
        create: (key, body, given) => observed(about('create', key, given), () => inner.create(key, body, given)),
        update: (key, body, given) => observed(about('update', key, given), () => inner.update(key, body, given)),
        patch: (key, patch, given) => observed(about('patch', key, given), () => inner.patch(key, patch, given)),
      };
    },
  }));
}

/** What an answer says of the object that was written; undefined where it is not that object. */
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
