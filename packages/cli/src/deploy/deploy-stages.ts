import { isForbidden, type DeepReadonly } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { ManifestObject } from './apply-objects.js';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { isDefinition } from '../manifests/definitions.js';
import { unlessMissing } from '../unless-missing.js';

/** The objects of a deployment beside its definitions, in the order of the stages. */
export interface DeployStages {
  readonly namespaces: readonly ManifestObject[];
  /** Objects that the workload needs: rights, the Service and the certificate of the webhooks. */
  readonly basis: readonly ManifestObject[];
  readonly workload: readonly ManifestObject[];
  /** Objects that make the API server call the operator. */
  readonly calls: readonly ManifestObject[];
}

const calling = new Set(['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']);

/** Divides the objects of a deployment. The order within a stage is kept. */
export function stagesOf(objects: readonly ManifestObject[]): DeployStages {
  const start = objects.findIndex(({ kind }) => kind === 'Deployment');
  const rest = objects.filter(({ kind }) => kind !== 'Namespace' && !calling.has(kind));
  const workload = new Set(objects.slice(start));
  return {
    namespaces: objects.filter(({ kind }) => kind === 'Namespace'),
    basis: rest.filter((each) => !workload.has(each)),
    workload: rest.filter((each) => workload.has(each)),
    calls: objects.filter(({ kind }) => calling.has(kind)),
  };
}

/** Definitions before the operator runs, and those of them that change once more when it does. */
export interface DefinitionStages {
  readonly first: readonly ManifestObject[];
  readonly last: readonly ManifestObject[];
}

/**
 * Divides the change of definitions whose storage version moves and that the operator converts. With the storage version
 * that the cluster has, requests of the version that clients use so far need no conversion. With the new one, all of
 * them fail until the operator answers, and for good if it does not start.
 */
export async function stagesOfDefinitions(
  { signal }: Pick<CliIo, 'signal'>,
  { client }: Pick<OpenCluster, 'client'>,
  definitions: readonly ManifestObject[],
): Promise<DefinitionStages> {
  const first: ManifestObject[] = [];
  const last: ManifestObject[] = [];
  for (const wanted of definitions) {
    const reading = unlessMissing(client.get(CustomResourceDefinition, { name: wanted.metadata.name }, { signal }));
    const found = await reading.catch((error: unknown) => {
      // The apply reports the right that is missing.
      if (isForbidden(error)) return undefined;
      throw error;
    });
    const before = found === undefined ? undefined : withStorageOf(wanted, found);
    first.push(before ?? wanted);
    if (before !== undefined) last.push(wanted);
  }
  return { first, last };
}

/** A definition with the storage version of another; undefined if it stays the same or is not converted by a webhook. */
function withStorageOf(
  wanted: ManifestObject,
  found: DeepReadonly<CustomResourceDefinition>,
): ManifestObject | undefined {
  if (!isDefinition(wanted) || wanted.spec.conversion?.strategy !== 'Webhook') return undefined;
  const storage = found.spec.versions.find((each) => each.storage)?.name;
  const { versions } = wanted.spec;
  if (!versions.some(({ name, storage: isStored }) => name === storage && !isStored)) return undefined;
  const kept = versions.map((version) => ({ ...version, storage: version.name === storage }));
  const spec = { ...wanted.spec, versions: kept };
  return { ...wanted, metadata: wanted.metadata, spec } as ManifestObject;
}

/** The name of the Secret that cert-manager makes for a deployment. */
export function certificateSecretOf(objects: readonly ManifestObject[]): string | undefined {
  const certificate = objects.find(({ kind }) => kind === 'Certificate');
  const spec: unknown = certificate === undefined ? undefined : Reflect.get(certificate, 'spec');
  const name: unknown = typeof spec === 'object' && spec !== null ? Reflect.get(spec, 'secretName') : undefined;
  return typeof name === 'string' ? name : undefined;
}
