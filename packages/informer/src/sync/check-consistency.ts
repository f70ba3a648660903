import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { formatKey, isSameJson, keyOf, mutableCopy } from '@kctl/apimachinery';
import type { IndexReader } from '@kctl/cache-index';
import type { ListOptions, Reader } from '@kctl/client';
import { requireOptions, signalOption, type OptionNames } from '@kctl/options';
import { transformObject } from '../decoders/transform-object.js';
import { hasMethods, requireKind, requireThat } from '../required.js';

/** Options of {@link checkConsistency}. */
export interface CheckConsistencyOptions<T extends KubeObject> {
  /** Called past its cache, if it has one. */
  readonly client: Pick<Reader, 'list'>;
  readonly kind: Kind<T>;
  /** The store, e.g. `informer.indexer`. */
  readonly store: Pick<IndexReader<T>, 'list' | 'resourceVersion'>;
  /** Limits of the store. @default all namespaces */
  readonly namespace?: string;
  readonly labelSelector?: NonNullable<ListOptions['labelSelector']>;
  readonly fieldSelector?: NonNullable<ListOptions['fieldSelector']>;
  /**
   * The transform of the store, so that what it changes does not count. Objects that it fails for are not compared.
   *
   * @default none
   */
  readonly transform?: (object: T) => T;
  /** Whether the store keeps managedFields. @default false */
  readonly keepManagedFields?: boolean;
  readonly signal?: AbortSignal;
}

/** Result of {@link checkConsistency}; keys are `namespace/name`, in the order of the strings. */
export interface ConsistencyReport {
  readonly isConsistent: boolean;
  /** The version at which both were compared. */
  readonly resourceVersion: string;
  /** On the server, and not in the store. */
  readonly missing: readonly string[];
  /** In the store, and not on the server. */
  readonly extra: readonly string[];
  /** In both, and not equal. */
  readonly different: readonly string[];
}

const optionNames: OptionNames<CheckConsistencyOptions<KubeObject>> = {
  client: true,
  kind: true,
  store: true,
  namespace: true,
  labelSelector: true,
  fieldSelector: true,
  transform: true,
  keepManagedFields: true,
  signal: signalOption,
};

/**
 * Compares the content of a store with a list of the server at exactly the store's resourceVersion. It costs a list
 * that the server reads from etcd, so it is meant for tests, and for an operator with an inconsistency. Mirrors
 * client-go's consistency detector, which panics instead of returning the differences.
 *
 * @throws TypeError for options that are not valid, or a store without a version (it has not synced); a 410 StatusError
 * if the server has compacted that version; errors of the list
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { checkConsistency, type SharedInformer } from '@kctl/informer';
 *
 * declare const informer: SharedInformer<Pod>;
 * const report = await checkConsistency({ client, kind: Pod, store: informer.indexer });
 * if (!report.isConsistent) console.error('the cache differs from the server', report);
 * ```
 */
export async function checkConsistency<T extends KubeObject>(
  options: CheckConsistencyOptions<T>,
): Promise<ConsistencyReport> {
  requireOptions<CheckConsistencyOptions<T>>('checkConsistency', options, optionNames);
  const { client, kind, store, transform, keepManagedFields = false, ...scope } = options;
  requireKind('checkConsistency', kind);
  requireThat(hasMethods(client, ['list']), 'checkConsistency: client', { value: client, expected: 'one with list' });
  requireThat(hasMethods(store, ['list']), 'checkConsistency: store', { value: store, expected: 'one with list' });
  // In one step, because the store goes on while the server is called.
  const held = new Map(store.list().map((object) => [formatKey(keyOf(object)), object] as const));
  const { resourceVersion } = store;
  requireThat(isVersion(resourceVersion), 'checkConsistency: store.resourceVersion', {
    value: resourceVersion,
    expected: 'the version of a store that has synced',
  });
  const report = { missing: [] as string[], extra: [] as string[], different: [] as string[] };
  // In one answer, because pages may go on with a later version if the first one is compacted meanwhile.
  const { items } = await client.list(kind, {
    ...scope,
    resourceVersion,
    resourceVersionMatch: 'Exact',
    live: true,
  });
  for (const object of items) {
    const key = formatKey(keyOf(object));
    const own = held.get(key);
    held.delete(key);
    const wanted = transform === undefined ? object : transformed(object, transform);
    // The store has the version before, or nothing.
    if (wanted === undefined) continue;
    if (own === undefined) report.missing.push(key);
    else if (!isSameJson(comparable(own, keepManagedFields), comparable(wanted, keepManagedFields)))
      report.different.push(key);
  }
  report.extra.push(...held.keys());
  for (const keys of Object.values(report)) keys.sort();
  const isConsistent = Object.values(report).every((keys) => keys.length === 0);
  return { isConsistent, resourceVersion, ...report };
}

/** The form in which a store holds an object that was read; undefined if the transform fails for it. */
function transformed<T extends KubeObject>(
  object: DeepReadonly<KubeObject>,
  transform: (object: T) => T,
): T | undefined {
  try {
    // A copy, because the object belongs to the caller and a transform may change it.
    return transformObject(mutableCopy(object) as unknown as T, transform);
  } catch {
    return undefined;
  }
}

function isVersion(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value !== '0';
}

/** Without what items of lists lack, and the store does not keep. */
function comparable(
  { apiVersion: _, kind: __, metadata, ...rest }: DeepReadonly<KubeObject>,
  keepManagedFields: boolean,
): unknown {
  const { managedFields: _managed, ...others } = metadata;
  return { ...rest, metadata: keepManagedFields ? metadata : others };
}
