import type { Commit } from '@kctl/apiserver';
import type { Exchange } from '../network/exchange.js';
import type { ReplicaHost } from '../replica/replica-host.js';
import type { ReconcileActivity, Scope } from '../scope.js';
import { electionRequestsRule } from './election-requests.js';
import { endsRule } from './ends.js';
import { leadershipRule } from './leadership.js';
import { ownReadsRule, type OwnReadsOptions } from './own-reads.js';
import { ownershipRule } from './ownership.js';
import { reconcileRule } from './reconciles.js';
import { objectLabel } from '../object-label.js';
import type { CausedCommit } from '../caused-commit.js';
import type { EndedReconcile, Phase, Rule, RuleContext } from './rule.js';
import { writesRule } from './writes.js';

/** Options of {@link RuleBook}. */
export interface RuleBookOptions {
  /** In ms, and in tasks that were run. */
  readonly time: { readonly now: number; readonly steps: number };
  readonly quietMs: number;
  readonly hosts: () => readonly ReplicaHost[];
  readonly openOf: (scope: Scope) => ReadonlySet<Exchange>;
  readonly listenersOf: (scope: Scope) => number;
  readonly ownReads: OwnReadsOptions;
  readonly violate: (rule: string, message: string, object?: string) => void;
}

/** Records of what happened, elections and what the server derives from CRDs are not part of what a run must lead to. */
const incidental = new Set([
  'events.k8s.io/events',
  '/events',
  'coordination.k8s.io/leases',
  'coordination.k8s.io/leasecandidates',
  'apiregistration.k8s.io/apiservices',
]);

/** A minute without a write of the operator counts as idle, in ms. */
const idleMs = 20_000;

/** All rules, and what they look at. */
export class RuleBook {
  readonly #options: RuleBookOptions;
  readonly #rules: readonly Rule[];
  readonly #objects = new Map<string, CausedCommit>();
  #lastWrite = 0;
  phase: Phase = 'faults';

  constructor(options: RuleBookOptions) {
    this.#options = options;
    const book = (): Phase => this.phase;
    const context: RuleContext = {
      get now() {
        return options.time.now;
      },
      get step() {
        return options.time.steps;
      },
      get phase() {
        return book();
      },
      get replicas() {
        return options.hosts();
      },
      quietMs: options.quietMs,
      objects: this.#objects,
      openOf: options.openOf,
      listenersOf: options.listenersOf,
      violate: options.violate,
    };
    const writes = writesRule(context);
    this.#rules = [
      leadershipRule(context),
      electionRequestsRule(context),
      // Of several that see the same mistake, the one that names its cause comes first.
      ownershipRule(context),
      reconcileRule(context, (controller, key) => writes.writesOf(controller, key)),
      writes,
      ownReadsRule(context, options.ownReads),
      endsRule(context),
    ];
  }

  /** All live objects by label, `widgets demo/a`. */
  get objects(): ReadonlyMap<string, CausedCommit> {
    return this.#objects;
  }

  /** Objects that a run of the same workload must lead to as well. */
  comparable(): CausedCommit[] {
    return [...this.#objects.values()].filter(
      ({ resource, origin }) => origin !== 'server' && !incidental.has(resource),
    );
  }

  /** Whether the operator has written nothing for a while. */
  isIdle(): boolean {
    return this.#options.time.now - this.#lastWrite > idleMs;
  }

  sending(exchange: Exchange): void {
    for (const rule of this.#rules) rule.sending?.(exchange);
  }

  answered(exchange: Exchange, status: number): void {
    for (const rule of this.#rules) rule.answered?.(exchange, status);
  }

  committed(commit: Commit, cause: Exchange | undefined, origin: Scope['kind']): CausedCommit {
    const { namespace, name, resource } = commit;
    const [group = '', plural = ''] = resource.split('/');
    const label = objectLabel({ group, plural }, namespace === '' ? name : `${namespace}/${name}`);
    const before = this.#objects.get(label);
    const caused: CausedCommit = {
      revision: commit.revision,
      resource,
      namespace,
      name,
      change: commit.change,
      object: commit.object,
      previous: commit.previous,
      exchange: cause,
      origin,
      label,
    };
    if (commit.change === 'DELETED') this.#objects.delete(label);
    // Without the request, which would retain everything that its client created for it, as long as the object lives.
    else this.#objects.set(label, { ...caused, exchange: undefined, origin: before?.origin ?? origin });
    if (cause?.scope.kind === 'replica' && !incidental.has(resource)) this.#lastWrite = this.#options.time.now;
    for (const rule of this.#rules) rule.committed?.(caused);
    return caused;
  }

  reconcileBegan(scope: Scope, reconcile: ReconcileActivity): void {
    for (const rule of this.#rules) rule.reconcileBegan?.(scope, reconcile);
  }

  reconcileEnded(ended: EndedReconcile): void {
    for (const rule of this.#rules) rule.reconcileEnded?.(ended);
  }

  replicaChanged(host: ReplicaHost): void {
    for (const rule of this.#rules) rule.replicaChanged?.(host);
  }

  disturbed(what: 'lease-edit' | 'clock-jump'): void {
    for (const rule of this.#rules) rule.disturbed?.(what);
  }

  quietBegan(): void {
    this.phase = 'quiet';
    for (const rule of this.#rules) rule.quietBegan?.();
  }

  quietEnded(): void {
    for (const rule of this.#rules) rule.quietEnded?.();
  }

  stopped(host: ReplicaHost): void {
    for (const rule of this.#rules) rule.stopped?.(host);
  }
}
