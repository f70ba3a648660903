import { isNoKindMatch, isStatusError } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { diffCrd, type AffectedObject } from '@kctl/crd';
import type { ManifestObject } from './apply-objects.js';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { kindOfDefinition } from '../kind-of-definition.js';

/** How many objects of a definition are named. */
const maxNamed = 3;

/**
 * Warns of definitions that are about to be applied and that stored objects no longer fit, with the objects and what the
 * new schema refuses or drops. The API server does not check stored objects when a definition changes.
 */
export async function warnOfStoredObjects(
  { err, signal }: Pick<CliIo, 'err' | 'signal'>,
  { client }: Pick<OpenCluster, 'client'>,
  definitions: readonly ManifestObject[],
): Promise<void> {
  for (const wanted of definitions) {
    const { name } = wanted.metadata;
    try {
      const found = await client.get(CustomResourceDefinition, { name }, { signal });
      const installed = { ...found, apiVersion: CustomResourceDefinition.apiVersion, kind: 'CustomResourceDefinition' };
      if (diffCrd(installed, wanted).verdict === 'compatible') continue;
      const { items } = await client.list(kindOfDefinition(installed), { signal });
      const { verdict, affected } = diffCrd(installed, wanted, { objects: items });
      if (affected.length === 0) continue;
      const named = affected.slice(0, maxNamed).map((each) => describe(each));
      const more = affected.length > maxNamed ? `; ${affected.length - maxNamed} more` : '';
      err(`Warning: the change of ${name} is ${verdict} for stored objects: ${named.join('; ')}${more}\n`);
    } catch (error) {
      // A definition that is not there has no objects; a person may not be allowed to list them; and a conversion webhook
      // may be down, which the change may be meant to mend.
      if (!isStatusError(error) && !isNoKindMatch(error)) throw error;
    }
  }
}

function describe({ namespace, name, message, dropped }: AffectedObject): string {
  const key = namespace === '' ? name : `${namespace}/${name}`;
  const reasons = [
    ...(message === '' ? [] : [message]),
    ...(dropped.length === 0 ? [] : [`loses ${dropped.join(', ')}`]),
  ];
  return `${key}: ${reasons.join(', ')}`;
}
