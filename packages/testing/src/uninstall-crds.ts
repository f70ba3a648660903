import { isNotFound } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { Reader, Writer } from '@kctl/client';
import { requireOptions } from '@kctl/options';
import { resolveCrds, type CrdSource } from './crd-sources.js';
import { eventually, type EventuallyOptions, eventuallyOptionNames } from './eventually.js';

/**
 * Deletes CustomResourceDefinitions, with all of their objects, and waits until they are gone. One that is not there is
 * gone. Mirrors envtest's `UninstallCRDs`, which does not wait.
 *
 * @throws Error naming a definition that is not gone in time, for example because of the finalizer of an object
 */
export async function uninstallCrds(
  client: Pick<Reader, 'get'> & Pick<Writer, 'delete'>,
  crds: CrdSource | readonly CrdSource[],
  options: EventuallyOptions = {},
): Promise<void> {
  requireOptions('uninstallCrds', options, eventuallyOptionNames);
  const names = (await resolveCrds(crds)).map(({ metadata }) => metadata.name ?? '');
  for (const name of names)
    await client.delete(CustomResourceDefinition, { name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  await Promise.all(
    names.map(async (name) => {
      await eventually(async () => {
        const state = await stateOf(client, name);
        if (state !== undefined) throw new Error(`CustomResourceDefinition ${name} is not gone: ${state}`);
      }, options);
    }),
  );
}

async function stateOf(client: Pick<Reader, 'get'>, name: string): Promise<string | undefined> {
  try {
    const { metadata, status } = await client.get(CustomResourceDefinition, { name }, { live: true });
    const terminating = status?.conditions?.find(({ type }) => type === 'Terminating');
    return terminating?.message ?? `its finalizers are ${JSON.stringify(metadata.finalizers ?? [])}`;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
