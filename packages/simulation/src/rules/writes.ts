import type { Exchange } from '../network/exchange.js';
import { isWrite } from '../network/target.js';
import { labelOf } from '../faults/fault-executor.js';
import { contentOf, differingPath } from './content.js';
import type { CausedCommit } from '../caused-commit.js';
import type { Rule, RuleContext } from './rule.js';

/** Records and elections are written as often as they need to be. */
const exempt = new Set(['leases', 'leasecandidates', 'events']);

/** Remedy for children that are created again. */
const findFirst =
  'a run must find what an earlier run made before it makes another. Give children a name that follows from their owner instead of generateName or a counter, and do not rely on a list that may be behind';

interface Written {
  sent: number;
  readonly contents: string[];
  readonly writers: string[];
  /** When each but the first of the contents was written, in ms. */
  readonly times: number[];
  subresource: string;
  resource: string;
}

/** The state of the rule besides what it reports. */
export interface WritesRule extends Rule {
  /** How many writes a reconcile of the key sent in the quiet time. */
  writesOf(controller: string, key: string): number;
}

/** How many writes of one object, or requests of one replica, in ten minutes are a storm. */
const stormWrites = 400;
const stormRequests = 6_000;
const stormWindowMs = 600_000;
/** How long after an edit of a Lease by hand two replicas may lead, and undo what the other does, in ms. */
const editGraceMs = 30_000;

/** In quiet times nothing is written; a replica that writes wakes itself, flaps or fights. Storms are never allowed. */
export function writesRule(context: RuleContext): WritesRule {
  return new ObservedWrites(context);
}

class ObservedWrites implements WritesRule {
  readonly names = [
    'write-storm',
    'request-storm',
    'creates-again',
    'controllers-fight',
    'status-flaps',
    'wakes-itself',
    'writes-nothing-new',
  ];
  readonly #context: RuleContext;
  #written = new Map<string, Written>();
  #byReconcile = new Map<string, number>();
  #created = new Map<string, number>();
  #window = { since: 0, counts: new Map<string, number>() };
  #requests = { since: 0, counts: new Map<string, number>() };
  #editedAt = -Infinity;
  /** Creators by created object, as named in the counts of a window. */
  readonly #makers = new Map<string, string>();

  constructor(context: RuleContext) {
    this.#context = context;
  }

  #writtenOf(label: string): Written {
    const known = this.#written.get(label);
    if (known !== undefined) return known;
    const made: Written = { sent: 0, contents: [], writers: [], times: [], subresource: '', resource: '' };
    this.#written.set(label, made);
    return made;
  }

  #writerOf({ scope, reconcile }: Exchange): string {
    return reconcile?.controller ?? scope.name;
  }

  #creationOf(exchange: Exchange): string {
    return `${labelOf(exchange)} of ${exchange.reconcile?.key ?? exchange.scope.name}`;
  }

  /**
   * If a watch of owners hangs, a run creates children of a deleted owner, and the garbage collector deletes each at
   * once, until the hang is detected. Objects that are not left behind do not count as created again.
   */
  #countCreation({ change, exchange, label }: CausedCommit): void {
    const isReplica = exchange?.scope.kind === 'replica';
    if (change === 'ADDED' && isReplica && exchange.target.name === '')
      this.#makers.set(label, this.#creationOf(exchange));
    if (change !== 'DELETED') return;
    const what = this.#makers.get(label);
    this.#makers.delete(label);
    if (what === undefined || isReplica) return;
    const count = this.#window.counts.get(what) ?? 0;
    if (count > 0) this.#window.counts.set(what, count - 1);
  }

  #countStorm(label: string, exchange: Exchange): void {
    const { target, reconcile, scope } = exchange;
    if (this.#context.now - this.#editedAt < editGraceMs) return;
    if (this.#context.now - this.#window.since > stormWindowMs)
      this.#window = { since: this.#context.now, counts: new Map() };
    const isCreate = target.name === '';
    const maker = reconcile?.key ?? scope.name;
    const what = isCreate ? this.#creationOf(exchange) : label;
    const count = (this.#window.counts.get(what) ?? 0) + 1;
    this.#window.counts.set(what, count);
    if (count !== stormWrites) return;
    const seconds = Math.round((this.#context.now - this.#window.since) / 1000);
    if (isCreate)
      this.#context.violate(
        'creates-again',
        `${stormWrites} ${target.resource} of ${maker} were created within ${seconds} s: ${findFirst}`,
      );
    else
      this.#context.violate(
        'write-storm',
        `${label} was written ${stormWrites} times within ${seconds} s: a loop writes without waiting for what it wrote before`,
        label,
      );
  }

  #countRequest({ name }: Exchange['scope']): void {
    if (this.#context.now - this.#requests.since > stormWindowMs)
      this.#requests = { since: this.#context.now, counts: new Map() };
    const count = (this.#requests.counts.get(name) ?? 0) + 1;
    this.#requests.counts.set(name, count);
    if (count === stormRequests)
      this.#context.violate(
        'request-storm',
        `${name} sent ${stormRequests} requests within ${Math.round((this.#context.now - this.#requests.since) / 1000)} s: something asks again without waiting`,
      );
  }

  writesOf(controller: string, key: string): number {
    return this.#byReconcile.get(`${controller} ${key}`) ?? 0;
  }

  sending(exchange: Exchange): void {
    const { scope, target, reconcile } = exchange;
    if (scope.kind === 'replica') this.#countRequest(scope);
    if (scope.kind !== 'replica' || !isWrite(target) || exempt.has(target.resource)) return;
    const label = labelOf(exchange);
    this.#countStorm(label, exchange);
    if (this.#context.phase !== 'quiet') return;
    if (reconcile !== undefined) {
      const id = `${reconcile.controller} ${reconcile.key}`;
      this.#byReconcile.set(id, (this.#byReconcile.get(id) ?? 0) + 1);
    }
    if (target.name === '') return;
    const state = this.#writtenOf(label);
    state.sent++;
    state.subresource = target.subresource;
    state.resource = target.resource;
  }

  committed(commit: CausedCommit): void {
    const { exchange, label } = commit;
    this.#countCreation(commit);
    if (this.#context.phase !== 'quiet' || exchange?.scope.kind !== 'replica' || exempt.has(exchange.target.resource))
      return;
    if (commit.change === 'ADDED') {
      const { reconcile } = exchange;
      const maker = reconcile === undefined ? exchange.scope.name : `${reconcile.controller} ${reconcile.key}`;
      const id = `${exchange.target.resource} of ${maker}`;
      this.#created.set(id, (this.#created.get(id) ?? 0) + 1);
    }
    // An object that is deleted once and created again neither flaps nor wakes itself.
    if (commit.change === 'DELETED' || commit.object.metadata.deletionTimestamp !== undefined) return;
    const state = this.#writtenOf(label);
    if (state.contents.length === 0 && commit.previous !== undefined) state.contents.push(contentOf(commit.previous));
    state.contents.push(contentOf(commit.object));
    state.writers.push(this.#writerOf(exchange));
    state.times.push(this.#context.now);
  }

  disturbed(what: 'lease-edit' | 'clock-jump'): void {
    if (what === 'lease-edit') this.#editedAt = this.#context.now;
  }

  quietBegan(): void {
    this.#written = new Map();
    this.#byReconcile = new Map();
    this.#created = new Map();
  }

  quietEnded(): void {
    const minutes = this.#context.quietMs / 60_000;
    for (const [what, count] of this.#created)
      if (count >= 2)
        this.#context.violate(
          'creates-again',
          `${count} ${what} were created in ${minutes} quiet minutes: ${findFirst}`,
        );
    for (const [label, state] of this.#written) judge(this.#context, label, state);
  }
}

/** A reconcile that its own write wakes, or a short timer, writes again soon, in ms. Longer timers may be due now and then. */
const wokenWithinMs = 90_000;

/** Whether four writes came in short succession, because one reconcile may need three. */
function isRow(times: readonly number[]): boolean {
  let row = 0;
  return times.some((time, index) => {
    row = time - (times[index - 1] ?? -Infinity) <= wokenWithinMs ? row + 1 : 0;
    return row >= 3;
  });
}

function judge(context: RuleContext, label: string, state: Written): void {
  const { sent, contents, writers, subresource, times } = state;
  const minutes = context.quietMs / 60_000;
  const field = subresource === '' ? label : `${subresource} of ${label}`;
  const changes = contents.length - 1;
  const [before = '{}', after = '{}'] = contents.slice(-2);
  if (changes < 3) {
    if (sent - Math.max(0, changes) >= 3)
      context.violate(
        'writes-nothing-new',
        `${field} was written ${sent} times in ${minutes} quiet minutes without a change: compare with what is there, and write only what differs`,
        label,
      );
    return;
  }
  const path = differingPath(before, after);
  const fighters = [...new Set(writers)];
  const isBack = new Set(contents).size <= contents.length / 2;
  if (isBack && fighters.length > 1)
    context.violate(
      'controllers-fight',
      `${fighters.join(' and ')} change ${path} of ${label} back and forth (${changes} times in ${minutes} quiet minutes): let one of them own the field, e.g. by server-side apply`,
      label,
    );
  else if (isBack)
    context.violate(
      'status-flaps',
      `${path} of ${label} changes back and forth (${changes} times in ${minutes} quiet minutes): what it says must follow from the state of the cluster alone`,
      label,
    );
  else if (isRow(times))
    context.violate(
      'wakes-itself',
      `${field} was written ${changes} times in ${minutes} quiet minutes, each time with another ${path}: its own write wakes the reconcile that writes it. Write only what differs, and no time or counter of the run`,
      label,
    );
}
