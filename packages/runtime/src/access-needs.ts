import { LeaseCandidate } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1beta1';
import { Event as CoreEvent } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { leaseKind } from '@kctl/leader-election/internal';
import { accessTo, type AccessNeed, type AccessOptions } from '@kctl/rbac';
import type { ElectionLease } from './runtime-options.js';

/** Events of objects without a namespace are in this one. */
const eventsOfClusterObjects = 'default';

const onRepetition = 'an event repeats';
const onOldServer = 'the server has no events.k8s.io/v1';

/**
 * The rights to record events about objects in some namespaces, or in all if undefined. Both groups have the same
 * events.
 */
export function eventNeeds(
  recorders: readonly string[],
  namespaces: readonly string[] | undefined,
): readonly AccessNeed[] {
  if (recorders.length === 0) return [];
  const where = namespaces === undefined ? {} : { namespaces: [...new Set([...namespaces, eventsOfClusterObjects])] };
  return eventVerbs(`recorder(${recorders.join(', ')})`, where);
}

/**
 * The rights that an election needs, which are to use its one Lease by name, to create it, and to record events about
 * it. The rights of a custom lock are not known here.
 */
export function electionNeeds(
  { namespace, name }: ElectionLease,
  { coordinated, newLock }: { readonly coordinated: boolean; readonly newLock: unknown },
): readonly AccessNeed[] {
  const reason = 'leader election';
  const where = { namespaces: [namespace], reason };
  const onLease =
    newLock === undefined
      ? [
          accessTo(leaseKind, ['get', 'update'], { ...where, names: [name] }),
          accessTo(leaseKind, ['create'], { ...where, ...(coordinated ? { when: 'the server has not made it' } : {}) }),
        ]
      : [];
  const onCandidate = coordinated
    ? [
        accessTo(LeaseCandidate, ['create'], where),
        // Not by name, because that of a candidate has a random part.
        accessTo(LeaseCandidate, ['get', 'update'], where),
      ]
    : [];
  return [...onLease, ...onCandidate, ...eventVerbs(reason, where)];
}

function eventVerbs(reason: string, where: AccessOptions): AccessNeed[] {
  return [
    accessTo(Event, ['create'], { ...where, reason }),
    accessTo(Event, ['patch'], { ...where, reason, when: onRepetition }),
    accessTo(CoreEvent, ['create'], { ...where, reason, when: onOldServer }),
    accessTo(CoreEvent, ['patch'], { ...where, reason, when: onRepetition }),
  ];
}
