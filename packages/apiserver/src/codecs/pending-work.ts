import type { Job, JobResult } from '../offload/jobs.js';
import type { Offload } from '../offload/offload.js';

/** Work on a long object that another thread does before the object is shown. */
export interface PendingWork {
  /** Makes and keeps it. @throws StatusError 413, 429; the reason of the signal */
  run(offload: Offload, signal?: AbortSignal): Promise<void>;
}

/** Works under way, by purpose. Readers and watchers of one state share one. */
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
      // Work whose client hangs up fails for all that share it, and they start it again.
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
