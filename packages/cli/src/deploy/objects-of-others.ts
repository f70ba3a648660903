import { isForbidden, isNoKindMatch } from '@kctl/apimachinery';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { labelsOf } from '../manifests/manager.js';
import { unlessMissing } from '../unless-missing.js';
import { describeManifest, kindOf, type ManifestObject } from './apply-objects.js';

/** Kinds that have a rule of their own for what may be changed or deleted. */
const withOwnRule = new Set(['Namespace', 'CustomResourceDefinition']);

/**
 * The objects among these that exist and are not the operator's, such as the ClusterRole `view` for an operator of that
 * name. All objects that kctl makes have labels with the operator's name; one that may not be read is not proven to be
 * the operator's.
 */
export async function objectsOfOthers(
  { signal }: Pick<CliIo, 'signal'>,
  cluster: Pick<OpenCluster, 'client' | 'mapper'>,
  { objects, operator }: { readonly objects: readonly ManifestObject[]; readonly operator: string },
): Promise<readonly ManifestObject[]> {
  const labels = Object.entries(labelsOf(operator));
  const others: ManifestObject[] = [];
  for (const object of objects) {
    if (withOwnRule.has(object.kind)) continue;
    const { name, namespace } = object.metadata;
    try {
      const kind = await kindOf(cluster, object, signal);
      const key = namespace === undefined ? { name } : { name, namespace };
      const found = await unlessMissing(cluster.client.get(kind, key, { signal }));
      if (found === undefined || labels.every(([label, value]) => found.metadata.labels?.[label] === value)) continue;
    } catch (error) {
      if (isNoKindMatch(error)) continue;
      if (!isForbidden(error)) throw error;
    }
    others.push(object);
  }
  return others;
}

/**
 * Refuses a deployment that would take over objects of others. Webhook configurations are not looked at, because those
 * that a killed `kctl dev` left are restored later.
 *
 * @throws CliError naming each of them
 */
export async function refuseObjectsOfOthers(
  io: Pick<CliIo, 'signal'>,
  cluster: Pick<OpenCluster, 'client' | 'mapper'>,
  { objects, operator }: { readonly objects: readonly ManifestObject[]; readonly operator: string },
): Promise<void> {
  const looked = objects.filter(({ kind }) => !kind.endsWith('WebhookConfiguration'));
  const others = await objectsOfOthers(io, cluster, { objects: looked, operator });
  if (others.length === 0) return;
  const labels = Object.entries(labelsOf(operator)).map(([label, value]) => `${label}=${value}`);
  throw new CliError(
    `nothing was changed: ${others.map(describeManifest).join(', ')} ${others.length === 1 ? 'exists and is' : 'exist and are'} not of the operator ${JSON.stringify(operator)} (without the labels ${labels.join(', ')}, or not readable): choose another name for the operator, or delete what is in the way`,
  );
}
