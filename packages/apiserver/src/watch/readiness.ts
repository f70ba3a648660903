import type { Clock } from '@kctl/wait';
import type { Offload } from '../offload/offload.js';
import type { ObjectVersion } from '../storage/version.js';
import { convertPatiently } from './patient-conversion.js';
import type { WatchShape } from '../codecs/shape.js';

/** Where and for how long states are made ready. */
export interface ReadyTerms {
  readonly clock: Clock;
  readonly offload: Offload;
  readonly isWanted: () => boolean;
}

/** Whether a state can be shown at once: a webhook may have to convert it, and another thread to look into it. */
export function isReady(shape: WatchShape, version: ObjectVersion): boolean {
  return version.has(shape.definition) && shape.pending?.(version) === undefined;
}

/**
 * Has states made ready for a watch.
 *
 * @returns whether they can be shown; a promise of it where a webhook or another thread has to be asked
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
    // What another thread has no room for is made in this one.
    await shape
      .pending?.(version)
      ?.run(terms.offload)
      .catch(() => undefined);
    if (!terms.isWanted()) return false;
  }
  return true;
}
