import type { Job, JobResult } from '../offload/jobs.js';
import type { Offload } from '../offload/offload.js';

/** What has to be made of a long object in another thread before it is shown. */
export interface PendingWork {
  /** Makes and keeps it. @throws StatusError 413, 429; the reason of the signal */
  run(offload: Offload, signal?: AbortSignal): Promise<void>;
}

/** Works under way, by what they are for: readers and watchers of one state share one. */
const underWay = new WeakMap<object, Map<string, Promise<unknown>>>();

/** A job about an owner; `id` separates what is made of the same owner. */
export function pendingJob<J extends Job>(
  owner: object,
  id: string,
  { job, keep }: { readonly job: () => J; readonly keep: (result: JobResult<J>) => void },
): PendingWork {
  return {
    async run(offload, signal) {
      const known = underWay.get(owner) ?? new Map<string, Promise<unknown>>();
      underWay.set(owner, known);
      // One whose client hangs up fails those who share it: they ask anew.
      for (let shared = known.get(id); shared !== undefined; shared = known.get(id)) {
        const isMade = await shared.then(
          () => true,
          () => false,
        );
        if (isMade) return;
        signal?.throwIfAborted();
      }
      const made = offload.run(job(), signal).then(keep);
      known.set(id, made);
      const forget = (): void => void known.delete(id);
      made.then(forget, forget);
      await made;
    },
  };
}
