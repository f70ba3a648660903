import type { Clock } from '@kctl/wait';
import type { Offload } from '../offload/offload.js';
import type { ObjectVersion } from '../storage/version.js';
import { convertPatiently } from './patient-conversion.js';
import type { WatchShape } from '../codecs/shape.js';

/** Means and conditions for making states ready. */
export interface ReadyTerms {
  readonly clock: Clock;
  readonly offload: Offload;
  readonly isWanted: () => boolean;
}

/** Whether a state can be shown at once. Otherwise a webhook has to convert it, or another thread to read it. */
export function isReady(shape: WatchShape, version: ObjectVersion): boolean {
  return version.has(shape.definition) && shape.pending?.(version) === undefined;
}

/**
 * Has states made ready for a watch.
 *
 * @returns whether they can be shown; a promise of it if a webhook or another thread has to be called
 */
export function makeReady(
  shape: WatchShape,
  versions: readonly ObjectVersion[],
  terms: ReadyTerms,
): true | Promise<boolean> {
  const waiting = versions.filter((version) => !isReady(shape, version));
  return waiting.length === 0 ? true : insist(shape, waiting, terms);
}

async function insist(shape: WatchShape, versions: readonly ObjectVersion[], terms: ReadyTerms): Promise<boolean> {
  if (!(await convertPatiently(shape.definition, versions, terms))) return false;
  for (const version of versions) {
    // States that another thread has no room for are made in this one.
    await shape
      .pending?.(version)
      ?.run(terms.offload)
      .catch(() => undefined);
    if (!terms.isWanted()) return false;
  }
  return true;
}
