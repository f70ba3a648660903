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
  return new LeadershipRule(context);
}

class LeadershipRule implements Rule {
  readonly names = [
    'lease-taken-early',
    'no-leader',
    'two-leaders',
    'two-claim-to-lead',
    'released-with-work',
    'write-after-release',
    'reconciles-without-lease',
  ];
  readonly #context: RuleContext;
  readonly #leases = new Map<string, LeaseState>();
  readonly #identities = new Map<string, Scope>();
  #faultsUntil = 0;
  #areFaultsOver = false;
  /** Controllers that reconcile in replicas that never led need no Lease. */
  readonly #ledBefore = new Set<Scope>();
  readonly #unbound = new Set<string>();
  #suspect: { readonly controller: string; readonly message: string; readonly key: string } | undefined;

  constructor(context: RuleContext) {
    this.#context = context;
  }

  /** Work of a leader ends with its lease; what begins once another has it begins in two replicas. */
  #judgeWork(scope: Scope, { controller, key }: ReconcileActivity): void {
    if (!this.#ledBefore.has(scope)) this.#unbound.add(controller);
    if (this.#suspect !== undefined || this.#leases.size !== 1 || this.#unbound.has(controller)) return;
    for (const [label, { holder, candidates, takenAt, editedAt }] of this.#leases) {
      if (holder === undefined || holder === scope || !candidates.has(scope)) continue;
      const sinceMs = this.#context.now - Math.max(takenAt, editedAt + editGraceMs, scope.stalledUntil);
      if (sinceMs < workGraceMs) continue;
      this.#suspect = {
        controller,
        key,
        message: `${scope.name}: controller ${controller} begins to reconcile ${key} ${Math.round((this.#context.now - takenAt) / 1000)} s after ${holder.name} took the Lease (${label}): work of a leader must be stopped when its lease runs out, whatever a renewal is waiting for`,
      };
    }
  }

  /** Another's Lease is taken once it has run out, counted from when the server has its last renewal. */
  #judgeTaking(label: string, before: LeaseState, writer: Scope): void {
    const owner = this.#identities.get(before.identity);
    if (before.identity === '' || owner === writer || this.#context.now >= before.validUntil) return;
    this.#context.violate(
      'lease-taken-early',
      `${writer.name} takes the Lease of ${owner?.name ?? before.identity} ${Math.round(before.validUntil - this.#context.now)} ms before it runs out: its holder may lead until then. A candidate waits for the whole duration after it saw a change`,
      label,
    );
  }

  /** A candidate that requests a Lease without a holder for this long does not take it. */
  #judgeVacancy({ scope, target }: Exchange): void {
    if (this.#context.phase === 'faults' || this.#context.phase === 'stopping') return;
    if (!this.#areFaultsOver) {
      this.#areFaultsOver = true;
      this.#faultsUntil = this.#context.now; // with one replica, the request before may be minutes old
    }
    if (target.resource !== 'leases' || target.verb !== 'get') return;
    const label = `leases ${target.namespace}/${target.name}`;
    const lease = this.#leases.get(label);
    if (lease === undefined || lease.candidates.size === 0) return;
    if (this.#context.now - Math.max(this.#faultsUntil, lease.validUntil, lease.editedAt) < vacancyMs) return;
    this.#context.violate(
      'no-leader',
      `the Lease ran out ${Math.round((this.#context.now - lease.validUntil) / 1000)} s ago, nothing is broken, and ${scope.name} looks at it without taking it: nothing is reconciled meanwhile`,
      label,
    );
  }

  #holds(lease: LeaseState, scope: Scope): boolean {
    return lease.holder === scope || this.#context.now - lease.editedAt < editGraceMs;
  }

  /** A stalled process reports nothing; checked the moment it resumes, it must know that its lease has expired. */
  #judgeClaims(label: string, { holder, candidates, editedAt }: LeaseState): void {
    if (this.#leases.size !== 1 || this.#context.now - editedAt < editGraceMs) return;
    for (const { name, scope, operator } of this.#context.replicas) {
      if (scope === undefined || scope === holder || !candidates.has(scope) || operator?.isLeader !== true) continue;
      this.#context.violate(
        'two-claim-to-lead',
        `${name} says that it leads while ${holder?.name ?? ''} holds the Lease: isLeader must be false from the moment at which the lease may be lost`,
        label,
      );
    }
  }

  /** Only a controller that needs leadership is known to; leaders have those that run. */
  #judgeRelease(label: string, scope: Scope): void {
    const host = this.#context.replicas.find((replica) => replica.scope === scope);
    const [first] = host?.running.values() ?? [];
    if (first === undefined) return;
    this.#context.violate(
      'released-with-work',
      `${scope.name} gives the Lease back while ${first.controller} reconciles ${first.key}: another replica may begin before that has ended. A lease is left to expire where work does not stop`,
      label,
    );
  }

  committed(commit: CausedCommit): void {
    if (commit.resource !== 'coordination.k8s.io/leases') return;
    const { spec } = commit.object as { spec?: { holderIdentity?: string; leaseDurationSeconds?: number } };
    const identity = spec?.holderIdentity ?? '';
    const writer = commit.exchange?.scope;
    const lease = this.#leases.get(commit.label) ?? {
      candidates: new Set<Scope>(),
      holder: undefined,
      identity: '',
      validUntil: -Infinity,
      takenAt: -Infinity,
      editedAt: -Infinity,
    };
    this.#leases.set(commit.label, lease);
    if (writer?.kind === 'replica') {
      lease.candidates.add(writer);
      if (identity !== '') this.#identities.set(identity, writer);
    } else lease.editedAt = this.#context.now;
    if (writer?.kind === 'replica' && identity === '' && lease.identity !== '')
      this.#judgeRelease(commit.label, writer);
    if (writer?.kind === 'replica' && identity !== lease.identity && identity !== '')
      this.#judgeTaking(commit.label, lease, writer);
    const isHeld = identity !== '' && commit.change !== 'DELETED';
    lease.validUntil = isHeld ? this.#context.now + 1000 * (spec?.leaseDurationSeconds ?? 0) : this.#context.now;
    if (identity !== lease.identity) lease.takenAt = this.#context.now;
    lease.identity = isHeld ? identity : '';
    lease.holder = isHeld ? this.#identities.get(identity) : undefined;
    if (lease.holder !== undefined) this.#ledBefore.add(lease.holder);
    if (lease.holder !== undefined) this.#judgeClaims(commit.label, lease);
  }

  reconcileBegan(scope: Scope, reconcile: ReconcileActivity): void {
    this.#judgeWork(scope, reconcile);
  }

  quietEnded(): void {
    if (this.#suspect !== undefined && !this.#unbound.has(this.#suspect.controller))
      this.#context.violate('reconciles-without-lease', this.#suspect.message, this.#suspect.key);
  }

  sending(exchange: Exchange): void {
    const { scope, target } = exchange;
    if (scope.kind === 'replica') this.#judgeVacancy(exchange);
    if (scope.kind !== 'replica' || !isWrite(target) || unfenced.has(target.resource)) return;
    const own = [...this.#leases.values()].filter(({ candidates }) => candidates.has(scope));
    if (own.length === 0 || own.some((lease) => this.#holds(lease, scope))) return;
    const [lease] = own;
    const what = `${target.verb} ${labelOf(exchange)}`;
    if (lease?.holder !== undefined)
      this.#context.violate(
        'two-leaders',
        `${scope.name} sends ${what} while ${lease.holder.name} holds the Lease: a write of a former leader must be refused from the moment at which its lease may be lost`,
        labelOf(exchange),
      );
    else
      this.#context.violate(
        'write-after-release',
        `${scope.name} sends ${what} after it gave the Lease back: work must end before the lease is released`,
        labelOf(exchange),
      );
  }
}
