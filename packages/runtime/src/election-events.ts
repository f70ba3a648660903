import type { Client } from '@kctl/client';
import type { EventRecorder, EventReference } from '@kctl/events';
import { leaseKind } from '@kctl/leader-election/internal';

/** Options of {@link createElectionEvents}. */
export interface ElectionEventsOptions {
  /** Finds the lease, so that `kubectl describe lease` shows the events. */
  readonly client: Pick<Client, 'get'>;
  readonly recorder: EventRecorder;
  readonly lease: { readonly namespace: string; readonly name: string; readonly identity: string };
}

/** Records changes of leadership as Events on the Lease. Nothing here waits or throws. */
export interface ElectionEvents {
  becameLeader(): void;
  stoppedLeading(): void;
}

/** Mirrors `LeaseLock.RecordEvent`, in its words. */
export function createElectionEvents({ client, recorder, lease }: ElectionEventsOptions): ElectionEvents {
  const { namespace, name, identity } = lease;
  const reference: EventReference = { apiVersion: leaseKind.apiVersion, kind: leaseKind.kind, namespace, name };
  const find = async (): Promise<EventReference> => {
    try {
      const { uid } = (await client.get(leaseKind, { namespace, name })).metadata;
      return uid === undefined ? reference : { ...reference, uid };
    } catch {
      return reference; // an event without it is better than none
    }
  };
  // The actions differ, because events that differ in their note alone are a series of the first.
  const record = (regarding: EventReference, action: string, what: string): void => {
    recorder.event(regarding, { type: 'Normal', reason: 'LeaderElection', action, note: `${identity} ${what}` });
  };
  /** Records once that this candidate leads, when the lease is found or before the event that it stopped. */
  let became: ((regarding: EventReference) => void) | undefined;
  let regarding = reference;
  return {
    becameLeader: () => {
      const announce = (found: EventReference): void => {
        if (became !== announce) return;
        became = undefined;
        regarding = found;
        record(found, 'BecomeLeader', 'became leader');
      };
      became = announce;
      void find().then(announce);
    },
    // At once, because after a lost lease the process may have no other turn, and the recorder is about to stop.
    stoppedLeading: () => {
      became?.(reference);
      record(regarding, 'StopLeading', 'stopped leading');
    },
  };
}
