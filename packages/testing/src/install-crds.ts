import { isAlreadyExists, isConflict, isNotFound, type DeepReadonly } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { Reader, Writer } from '@kctl/client';
import { sleep, systemClock } from '@kctl/wait';
import { requireOptions } from '@kctl/options';
import { resolveCrds, type CrdSource } from './crd-sources.js';
import { lostFieldsWarning } from './lost-fields.js';
import { eventually, type EventuallyOptions, eventuallyOptionNames } from './eventually.js';

/** The client of {@link installCrds}. */
export type CrdClient = Pick<Reader, 'get'> & Pick<Writer, 'create' | 'update'>;

/**
 * Creates or updates CustomResourceDefinitions and waits until each is established, so that its objects can be used.
 * Mirrors envtest's `InstallCRDs`. A definition without a conversion webhook whose versions lose fields of one another
 * causes a warning of the process.
 *
 * @param crds definitions, YAML or JSON, paths of files or folders, or kinds
 * @throws Error naming the CRD and its conditions when it is not established in time, and a source without a definition
 *
 * @example
 * ```ts
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 * import { installCrds, uninstallCrds } from '@kctl/testing';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * await installCrds(client, './config/crd');
 * await uninstallCrds(client, './config/crd');
 * ```
 */
export async function installCrds(
  client: CrdClient,
  crds: CrdSource | readonly CrdSource[],
  options: EventuallyOptions = {},
): Promise<void> {
  requireOptions('installCrds', options, eventuallyOptionNames);
  const definitions = await resolveCrds(crds);
  for (const definition of definitions) {
    const warning = lostFieldsWarning(definition);
    if (warning !== undefined) process.emitWarning(warning, { code: 'KCTL_LOST_FIELDS' });
  }
  await Promise.all(definitions.map((crd) => installOne(client, crd, options)));
}

/** How many times a definition is written that others change meanwhile. */
const maxTries = 20;

async function installOne(
  client: CrdClient,
  crd: DeepReadonly<CustomResourceDefinition>,
  options: EventuallyOptions,
): Promise<void> {
  const name = crd.metadata.name ?? '';
  const { clock = systemClock, timeoutMs = 60_000, signal } = options;
  const link = signal === undefined ? {} : { signal };
  // Counted in tries, because a slow one is no change by others.
  for (let tries = 1; !(await createOrReplace(client, name, crd)); tries++) {
    if (tries === maxTries)
      throw new Error(
        `CustomResourceDefinition ${name} keeps changing: ${maxTries} updates were refused with a conflict: stop what else writes it`,
      );
    await sleep(100, { clock, ...link });
  }
  await eventually(
    async () => {
      const { status } = await client.get(CustomResourceDefinition, { name }, { live: true, ...link });
      const conditions = status?.conditions ?? [];
      const established = conditions.some(({ type, status: value }) => type === 'Established' && value === 'True');
      if (!established) {
        const seen = conditions
          .map(({ type, status: value, message = '' }) => `${type}=${value} ${message}`)
          .join('; ');
        throw new Error(
          `CustomResourceDefinition ${name} is not established: ${seen === '' ? 'it has no conditions yet' : seen}`,
        );
      }
    },
    { ...options, timeoutMs, intervalMs: 20 },
  );
}

/** One try; false when another client changed it meanwhile. */
async function createOrReplace(
  client: CrdClient,
  name: string,
  crd: DeepReadonly<CustomResourceDefinition>,
): Promise<boolean> {
  try {
    await client.create(CustomResourceDefinition, crd);
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    try {
      const { metadata } = await client.get(CustomResourceDefinition, { name }, { live: true });
      await client.update(CustomResourceDefinition, {
        ...crd,
        metadata: { ...crd.metadata, resourceVersion: metadata.resourceVersion ?? '' },
      });
      return true;
    } catch (updateError) {
      if (isConflict(updateError) || isNotFound(updateError)) return false;
      throw updateError;
    }
  }
}
