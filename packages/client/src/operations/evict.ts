import type { DeepReadonly, KubeObject, NamespacedKey } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import type { SubResources } from '../client.js';
import type { AbortOptions } from '../options.js';
import { requireClient, requireOptionsObject } from '../checks/require-arguments.js';
import { requireKey } from '../checks/require-kind.js';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

/** Options of {@link evict}. */
export interface EvictOptions extends AbortOptions {
  /** Grace period of the pod, in seconds. @default that of the pod */
  readonly gracePeriodSeconds?: number;
  /** Checks whether the pod would be evicted, and changes nothing. @default false */
  readonly dryRun?: boolean;
}

const optionNames: OptionNames<EvictOptions> = { gracePeriodSeconds: true, dryRun: true, signal: true };

/** The body of the subresource `eviction` of policy/v1. */
interface Eviction extends KubeObject {
  deleteOptions?: { gracePeriodSeconds?: number; dryRun?: string[]; preconditions?: { uid?: string } };
}

/**
 * Evicts a pod, that is, deletes it unless that would break a PodDisruptionBudget. With the uid of an object that was
 * read, a later pod of that name stays.
 *
 * @throws StatusError 429 (`isTooManyRequests`) if a budget does not allow it now, 404 if the pod does not exist, 409
 * if it is another pod
 */
export async function evict(
  client: Pick<SubResources, 'subResource'>,
  pod: NamespacedKey | DeepReadonly<KubeObject & { metadata: NamespacedKey }>,
  options: EvictOptions = {},
): Promise<void> {
  requireClient('evict', client, ['subResource']);
  requireOptionsObject('evict', options);
  requireOptions('evict', options, optionNames);
  const { gracePeriodSeconds, dryRun = false, signal } = options;
  const { namespace, name } = requireKey('evict', Pod, pod);
  const uid = 'metadata' in pod ? pod.metadata.uid : undefined;
  const deleteOptions = {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  };
  const body: Eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions };
  await client
    .subResource<typeof Pod, Eviction>(Pod, 'eviction')
    .create({ namespace, name }, body, signal === undefined ? {} : { signal });
}
