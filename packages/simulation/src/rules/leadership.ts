import { labelOf } from '../faults/fault-executor.js';
import type { Exchange } from '../network/exchange.js';
import { isWrite } from '../network/target.js';
import type { ReconcileActivity, Scope } from '../scope.js';
import type { CausedCommit } from '../caused-commit.js';
import type { Rule, RuleContext } from './rule.js';

/** Written without leadership by design, which are the election itself, and reports about it. */
const unfenced = new Set(['leases', 'leasecandidates', 'events', 'subjectaccessreviews', 'tokenreviews']);

interface LeaseState {
  /** Who took part in the election of this Lease. */
  readonly candidates: Set<Scope>;
  holder: Scope | undefined;
  identity: string;
  /** Until when its holder may lead, by its last write and the duration that this names; ms since the world began. */
  validUntil: number;
  /** When its holder became the holder. */
  takenAt: number;
  /** When another than a candidate last wrote it. */
  editedAt: number;
}

/**
 * How long after an edit by hand the holder may still believe that it leads, which is until its next renewal, in ms.
 */
const editGraceMs = 30_000;

/** How long after another took its Lease a reconcile may begin in a replica that led, in ms. */
const workGraceMs = 2_000;

/** So long after the last fault, and after it has run out, a Lease without a new holder is one that no replica takes, in ms. */
const vacancyMs = 90_000;

/** Who holds a Lease at the server is the only one of its candidates that sends writes. */
export function leadershipRule(context: RuleContext): Rule {
  const leases = new Map<string, LeaseState>();
  const identities = new Map<string, Scope>();

  let faultsUntil = 0;
  let areFaultsOver = false;
  /** Controllers that reconcile in replicas that never led need no Lease. */
  const ledBefore = new Set<Scope>();
  const unbound = new Set<string>();
  let suspect: { readonly controller: string; readonly message: string; readonly key: string } | undefined;

  /** Work of a leader ends with its lease; what begins once another has it begins in two replicas. */
  const judgeWork = (scope: Scope, { controller, key }: ReconcileActivity): void => {
    if (!ledBefore.has(scope)) unbound.add(controller);
    if (suspect !== undefined || leases.size !== 1 || unbound.has(controller)) return;
    for (const [label, { holder, candidates, takenAt, editedAt }] of leases) {
      if (holder === undefined || holder === scope || !candidates.has(scope)) continue;
      const sinceMs = context.now - Math.max(takenAt, editedAt + editGraceMs, scope.stalledUntil);
      if (sinceMs < workGraceMs) continue;
      suspect = {
        controller,
        key,
        message: `${scope.name}: controller ${controller} begins to reconcile ${key} ${Math.round((context.now - takenAt) / 1000)} s after ${holder.name} took the Lease (${label}): work of a leader must be stopped when its lease runs out, whatever a renewal is waiting for`,
      };
    }
  };

  /** Another's Lease is taken once it has run out, counted from when the server has its last renewal. */
  const judgeTaking = (label: string, before: LeaseState, writer: Scope): void => {
    const owner = identities.get(before.identity);
    if (before.identity === '' || owner === writer || context.now >= before.validUntil) return;
    context.violate(
      'lease-taken-early',
      `${writer.name} takes the Lease of ${owner?.name ?? before.identity} ${Math.round(before.validUntil - context.now)} ms before it runs out: its holder may lead until then. A candidate waits for the whole duration after it saw a change`,
      label,
    );
  };

  /** A candidate that requests a Lease without a holder for this long does not take it. */
  const judgeVacancy = ({ scope, target }: Exchange): void => {
    if (context.phase === 'faults' || context.phase === 'stopping') return;
    if (!areFaultsOver) {
      areFaultsOver = true;
      faultsUntil = context.now; // with one replica, the request before may be minutes old
    }
    if (target.resource !== 'leases' || target.verb !== 'get') return;
    const label = `leases ${target.namespace}/${target.name}`;
    const lease = leases.get(label);
    if (lease === undefined || lease.candidates.size === 0) return;
    if (context.now - Math.max(faultsUntil, lease.validUntil, lease.editedAt) < vacancyMs) return;
    context.violate(
      'no-leader',
      `the Lease ran out ${Math.round((context.now - lease.validUntil) / 1000)} s ago, nothing is broken, and ${scope.name} looks at it without taking it: nothing is reconciled meanwhile`,
      label,
    );
  };

  const holds = (lease: LeaseState, scope: Scope): boolean =>
    lease.holder === scope || context.now - lease.editedAt < editGraceMs;

  /** A stalled process reports nothing; checked the moment it resumes, it must know that its lease has expired. */
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
    names: [
      'lease-taken-early',
      'no-leader',
      'two-leaders',
      'two-claim-to-lead',
      'released-with-work',
      'write-after-release',
      'reconciles-without-lease',
    ],
    committed(commit: CausedCommit) {
      if (commit.resource !== 'coordination.k8s.io/leases') return;
      const { spec } = commit.object as { spec?: { holderIdentity?: string; leaseDurationSeconds?: number } };
      const identity = spec?.holderIdentity ?? '';
      const writer = commit.exchange?.scope;
      const lease = leases.get(commit.label) ?? {
        candidates: new Set<Scope>(),
        holder: undefined,
        identity: '',
        validUntil: -Infinity,
        takenAt: -Infinity,
        editedAt: -Infinity,
      };
      leases.set(commit.label, lease);
      if (writer?.kind === 'replica') {
        lease.candidates.add(writer);
        if (identity !== '') identities.set(identity, writer);
      } else lease.editedAt = context.now;
      if (writer?.kind === 'replica' && identity === '' && lease.identity !== '') judgeRelease(commit.label, writer);
      if (writer?.kind === 'replica' && identity !== lease.identity && identity !== '')
        judgeTaking(commit.label, lease, writer);
      const isHeld = identity !== '' && commit.change !== 'DELETED';
      lease.validUntil = isHeld ? context.now + 1000 * (spec?.leaseDurationSeconds ?? 0) : context.now;
      if (identity !== lease.identity) lease.takenAt = context.now;
      lease.identity = isHeld ? identity : '';
      lease.holder = isHeld ? identities.get(identity) : undefined;
      if (lease.holder !== undefined) ledBefore.add(lease.holder);
      if (lease.holder !== undefined) judgeClaims(commit.label, lease);
    },
    reconcileBegan: judgeWork,
    quietEnded() {
      if (suspect !== undefined && !unbound.has(suspect.controller))
        context.violate('reconciles-without-lease', suspect.message, suspect.key);
    },
    sending(exchange: Exchange) {
      const { scope, target } = exchange;
      if (scope.kind === 'replica') judgeVacancy(exchange);
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
