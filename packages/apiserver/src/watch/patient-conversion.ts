import { sleep, type Clock } from '@kctl/wait';
import type { ResourceDefinition } from '../resource/resource.js';
import { convertVersions } from '../storage/convert-versions.js';
import type { ObjectVersion } from '../storage/version.js';

/** How long a watch waits for a conversion webhook that fails, and how long between two attempts, in ms. */
const patienceMs = 30_000;
const pauseMs = 1_000;

/**
 * Has versions converted for a watch. As upstream's watch cache, tries again and again for 30 s if the webhook fails.
 *
 * @returns whether they are converted; a promise of it if the webhook has to be called
 */
export function convertPatiently(
  definition: ResourceDefinition,
  versions: readonly ObjectVersion[],
  terms: { readonly clock: Clock; readonly isWanted: () => boolean },
): true | Promise<boolean> {
  const converted = convertVersions(definition, versions);
  return converted === undefined ? true : insist(converted, definition, { ...terms, versions });
}

async function insist(
  first: Promise<void>,
  definition: ResourceDefinition,
  {
    clock,
    isWanted,
    versions,
  }: { readonly clock: Clock; readonly isWanted: () => boolean; readonly versions: readonly ObjectVersion[] },
): Promise<boolean> {
  const deadline = clock.monotonicNow() + patienceMs;
  for (let attempt: Promise<void> | undefined = first; ; attempt = convertVersions(definition, versions)) {
    try {
      await attempt;
      return true;
    } catch {
      if (!isWanted() || clock.monotonicNow() >= deadline) return false;
      await sleep(pauseMs, { clock, keepAlive: false });
      if (!isWanted()) return false;
    }
  }
}
