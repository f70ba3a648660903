import { labelOf } from '../faults/fault-executor.js';
import type { Exchange } from '../network/exchange.js';
import { isWrite } from '../network/target.js';
import type { Scope } from '../scope.js';
import type { CausedCommit, Rule, RuleContext } from './rule.js';

/** Written without leadership by design: the election itself, and what is reported about it. */
const unfenced = new Set(['leases', 'leasecandidates', 'events', 'subjectaccessreviews', 'tokenreviews']);

interface LeaseState {
  /** Who took part in the election of this Lease. */
  readonly candidates: Set<Scope>;
  holder: Scope | undefined;
  identity: string;
  /** When another than a candidate last wrote it. */
  editedAt: number;
}

/** How long after an edit by hand the holder may still believe that it leads: until its next renewal, in ms. */
const editGraceMs = 30_000;

/** Who holds a Lease at the server is the only one of its candidates that sends writes. */
export function leadershipRule(context: RuleContext): Rule {
  const leases = new Map<string, LeaseState>();
  const identities = new Map<string, Scope>();

  const holds = (lease: LeaseState, scope: Scope): boolean =>
    lease.holder === scope || context.now - lease.editedAt < editGraceMs;

  /** A stalled process says nothing; asked the moment it goes on, it must know that its lease has run out. */
  const judgeClaims = (label: string, { holder, candidates, editedAt }: LeaseState): void => {
    if (leases.size !== 1 || context.now - editedAt < editGraceMs) return;
    for (const { name, scope, operator } of context.replicas) {
      if (scope === undefined || scope === holder || !candidates.has(scope) || operator?.isLeader !== true) continue;
      context.violate(
        'two-claim-to-lead',
        `${name} says that it leads while ${holder?.name ?? ''} holds the Lease: isLeader must be false from the moment at which the lease may be lost`,
        label,
      );
    }
  };

  /** Only a controller that needs leadership is known to; leaders have those that run. */
  const judgeRelease = (label: string, scope: Scope): void => {
    const host = context.replicas.find((replica) => replica.scope === scope);
    const [first] = host?.running.values() ?? [];
    if (first === undefined) return;
    context.violate(
      'released-with-work',
      `${scope.name} gives the Lease back while ${first.controller} reconciles ${first.key}: another replica may begin before that has ended. A lease is left to expire where work does not stop`,
      label,
    );
  };

  return {
    names: ['two-leaders', 'two-claim-to-lead', 'released-with-work', 'write-after-release'],
    committed(commit: CausedCommit) {
      if (commit.resource !== 'coordination.k8s.io/leases') return;
      const { spec } = commit.object as { spec?: { holderIdentity?: string } };
      const identity = spec?.holderIdentity ?? '';
      const writer = commit.exchange?.scope;
      const lease = leases.get(commit.label) ?? {
        candidates: new Set<Scope>(),
        holder: undefined,
        identity: '',
        editedAt: -Infinity,
      };
      leases.set(commit.label, lease);
      if (writer?.kind === 'replica') {
        lease.candidates.add(writer);
        if (identity !== '') identities.set(identity, writer);
      } else lease.editedAt = context.now;
      if (writer?.kind === 'replica' && identity === '' && lease.identity !== '') judgeRelease(commit.label, writer);
      lease.identity = identity;
      lease.holder = commit.change === 'DELETED' ? undefined : identities.get(identity);
      if (lease.holder !== undefined) judgeClaims(commit.label, lease);
    },
    sending(exchange: Exchange) {
      const { scope, target } = exchange;
      if (scope.kind !== 'replica' || !isWrite(target) || unfenced.has(target.resource)) return;
      const own = [...leases.values()].filter(({ candidates }) => candidates.has(scope));
      if (own.length === 0 || own.some((lease) => holds(lease, scope))) return;
      const [lease] = own;
      const what = `${target.verb} ${labelOf(exchange)}`;
      if (lease?.holder !== undefined)
        context.violate(
          'two-leaders',
          `${scope.name} sends ${what} while ${lease.holder.name} holds the Lease: a write of a former leader must be refused from the moment at which its lease may be lost`,
          labelOf(exchange),
        );
      else
        context.violate(
          'write-after-release',
          `${scope.name} sends ${what} after it gave the Lease back: work must end before the lease is released`,
          labelOf(exchange),
        );
    },
  };
}
