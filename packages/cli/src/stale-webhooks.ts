import { isForbidden } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import { isManifest, type ManifestObject } from './deploy/apply-objects.js';
import type { OpenCluster } from './cluster.js';
import { placesOf } from './dev/originals.js';
import type { CliIo } from './io.js';
import { labelsOf } from './manifests/manager.js';
import { unlessMissing } from './unless-missing.js';

/**
 * Webhook configurations of an earlier version of an operator that the current one does not have. They are not served,
 * and those that fail closed reject every write. Others of these names, without the labels of kctl, are not the
 * operator's.
 */
export async function findStaleWebhooks(
  { signal }: Pick<CliIo, 'signal'>,
  { client }: Pick<OpenCluster, 'client'>,
  { graph, wanted }: { readonly graph: Pick<OperatorGraph, 'name' | 'resources'>; readonly wanted: readonly object[] },
): Promise<readonly ManifestObject[]> {
  const stale: ManifestObject[] = [];
  const labels = Object.entries(labelsOf(graph.name));
  for (const { kind, name } of placesOf(graph)) {
    if (kind === CustomResourceDefinition) continue;
    if (wanted.some((each) => isManifest(each) && each.kind === kind.kind && each.metadata.name === name)) continue;
    const found = await unlessMissing(client.get(kind, { name }, { signal })).catch((error: unknown) => {
      // A person who may not read them has not made them.
      if (isForbidden(error)) return undefined;
      throw error;
    });
    if (found === undefined || !labels.every(([label, value]) => found.metadata.labels?.[label] === value)) continue;
    stale.push({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name } });
  }
  return stale;
}
