import type { ApplyMemo } from '@kctl/client';
import type { PlannedField } from '@kctl/controller';
import { childName, isSameJson } from '@kctl/apimachinery';
import type { ObjectKey } from '@kctl/apimachinery';
import { systemClock } from '@kctl/wait';
import { NodeFailure } from '../errors.js';
import type { AnyObject, ChildNode, Definition, RefNode } from '../definition/node.js';
import { childNodes } from '../definition/node.js';
import { isNotYet } from '../definition/not-yet.js';
import { Inventory, placeOf } from '../ownership/inventory.js';
import { isPaused, isProven } from '../ownership/labels.js';
import type { NodeResult } from '../results.js';
import { stateOf } from '../status/ready.js';
import { bringAbout, findPresent } from './bring-about.js';
import type { Outcome, Surroundings } from './outcome.js';
import { plannedFields } from '../plan.js';
import type { PlannedFields } from '../plan.js';
import { asRead } from './compare.js';
import { isOwnable, targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import { writeInventory } from './write-inventory.js';
import type { Memory } from './memory.js';
import { isValuePresent, neededValue, unmetEdge } from './node-outcome.js';
import type { NodeOutcome } from './node-outcome.js';
import { isMissingKind } from './list-children.js';
import { prune } from './prune.js';
import type { Wanted } from './unwanted.js';
import type { DependentsContext } from './run-context.js';
import { Calls, Superseded } from './run-context.js';
import { referenceTo } from './references.js';
import { Slots } from './slots.js';

/** Parts of a run. */
export interface RunOptions {
  readonly definition: Definition;
  readonly primary: AnyObject;
  readonly context: DependentsContext;
  readonly memory: Memory;
  readonly memo: ApplyMemo;
  /** A plan: requests are dry runs, and nothing is remembered. */
  readonly dryRun: boolean;
  /** Filled with the objects whose events do not name the primary, see {@link referenceTo}. */
  readonly references: Set<string>;
}

/** Outcome of a run. */
export interface RunOutcome {
  readonly nodes: ReadonlyMap<string, NodeOutcome>;
  /** Objects that are no longer wanted, by target. */
  readonly pruned: readonly NodeResult[];
  /** The fields that would change; empty unless it is a plan. */
  readonly fields: PlannedFields;
}

/** One run over all nodes. */
export class Run {
  readonly #options: RunOptions;
  readonly #calls: Calls;
  readonly #slots: Slots;
  readonly #now: number;
  readonly #outcomes = new Map<string, Promise<NodeOutcome>>();
  readonly #wanted: Wanted[] = [];
  /** Nodes of which it is not known what they want: nothing of them is pruned. */
  readonly #unknown = new Set<string>();
  readonly #fields = new Map<string, readonly PlannedField[]>();

  constructor(options: RunOptions) {
    this.#options = options;
    this.#calls = new Calls(options.context);
    this.#slots = new Slots(options.definition.concurrency);
    this.#now = (options.context.clock ?? systemClock).now();
  }

  async execute(): Promise<RunOutcome> {
    const { definition, primary, dryRun } = this.#options;
    const plans = childNodes(definition).map((node) => this.#planOf(node));
    const isQuiet = isPaused(primary);
    const inventory = Inventory.of(primary);
    if (!isQuiet && !dryRun) {
      const added = plans.flatMap(({ members }) =>
        members.map(({ node, key }) => placeOf(node.kind, key.namespace ?? '')),
      );
      if (added.filter((place) => inventory.add(place)).length > 0)
        await writeInventory(this.#calls, definition, { primary, inventory }).catch((error: unknown) => {
          // No write follows either.
          if (!(error instanceof Superseded)) throw error;
        });
    }
    for (const node of definition.nodes) {
      const outcome = node.type === 'ref' ? this.#slots.run(() => this.#ref(node)) : this.#child(node, plans);
      this.#outcomes.set(node.name, outcome);
    }
    const outcomes = await allEnded([...this.#outcomes.values()]);
    const nodes = new Map(outcomes.map((outcome) => [outcome.node.name, outcome]));
    const pruned = isQuiet
      ? []
      : await prune({
          ...this.#options,
          calls: this.#calls,
          inventory,
          nodes,
          wanted: this.#wanted,
          unknown: this.#unknown,
          now: this.#now,
        });
    return { nodes, pruned, fields: this.#fields };
  }

  /** The objects that a node wants, or why that is not known. */
  #planOf(node: ChildNode): NodePlan {
    const { definition, primary } = this.#options;
    try {
      if (node.when !== undefined && !node.when(primary)) return { node, members: [], isAbsent: true };
      const namespace =
        node.kind.scope === 'Cluster' ? undefined : (node.namespace?.(primary) ?? primary.metadata.namespace ?? '');
      const members = [...node.items(primary)].map(([id, item]): Member => {
        const name =
          node.objectName?.(primary, item, id) ?? childName(primary, id === '' ? node.name : `${node.name}-${id}`);
        const key: ObjectKey = namespace === undefined ? { name } : { namespace, name };
        return { definition, primary, node, id, item, key };
      });
      for (const member of members) {
        this.#wanted.push(member);
        if (!isOwnable(member)) this.#options.references.add(referenceTo(node.kind, member.key));
      }
      return { node, members, isAbsent: false };
    } catch (error) {
      this.#unknown.add(node.name);
      return { node, members: [], isAbsent: false, error: asError(error) };
    }
  }

  async #ref(node: RefNode): Promise<NodeOutcome> {
    const result = await this.#refResult(node).catch((error: unknown) => failed(error));
    return {
      node,
      results: new Map([['', this.#remember(node.name, '', result)]]),
      isAbsent: false,
    };
  }

  async #refResult(node: RefNode): Promise<Result> {
    const key = node.key(this.#options.primary);
    if (key !== undefined) this.#options.references.add(referenceTo(node.kind, key));
    const object = key === undefined ? undefined : await this.#calls.find(node.kind, key);
    const target = key === undefined ? node.kind.kind : targetOf(node.kind, key);
    if (object !== undefined)
      return { state: 'ready', reason: 'Exists', message: '', target, object: asRead(object), action: 'none' };
    if (node.optional) return { state: 'absent', reason: 'Missing', message: '', target, action: 'none' };
    return {
      state: 'waiting',
      reason: 'Missing',
      message: key === undefined ? 'the object names none' : 'it does not exist',
      target,
      action: 'none',
    };
  }

  async #child(node: ChildNode, plans: readonly NodePlan[]): Promise<NodeOutcome> {
    const plan = plans.find((each) => each.node === node);
    const needed = await Promise.all(node.edges.map(async ({ name }) => await this.#outcomes.get(name)));
    const results = new Map<string, NodeResult>();
    if (plan?.error !== undefined) {
      results.set('', this.#remember(node.name, '', failed(plan.error)));
      return { node, results, isAbsent: false };
    }
    const edges = needed.filter((outcome): outcome is NodeOutcome => outcome !== undefined);
    let isMissingKind = false;
    await allEnded(
      (plan?.members ?? []).map((member) =>
        this.#slots.run(async () => {
          const result = await this.#member(member, edges).catch((error: unknown) => this.#failed(node, error));
          isMissingKind ||= result.state === 'skipped';
          const target = targetOf(node.kind, member.key);
          results.set(member.id, this.#remember(node.name, member.id, { target, ...result }));
        }),
      ),
    );
    const sorted = new Map((plan?.members ?? []).flatMap(({ id }) => entryOf(results, id)));
    return { node, results: sorted, isAbsent: plan?.isAbsent === true || isMissingKind };
  }

  async #member(member: Member, edges: readonly NodeOutcome[]): Promise<Result> {
    const { node, id } = member;
    const { primary, definition, memory, memo, dryRun } = this.#options;
    const remembered = memory.of(primary, { node: node.name, id }, this.#now);
    const around: Surroundings = {
      applying: { calls: this.#calls, definition, node, dryRun },
      remembered,
      memo,
      now: this.#now,
      onEvent: (type, reason, text) => this.#event(type, reason, text),
      makesNamespace: (namespace) =>
        this.#wanted.some(
          (each) => each.node.kind.group === '' && each.node.kind.kind === 'Namespace' && each.key.name === namespace,
        ),
    };
    const present = await findPresent(member, around);
    const isOurs = present !== undefined && isProven(definition, primary, present);
    if (isPaused(primary) || (isOurs && isPaused(present))) return pausedResult(node, present);
    const blockers = node.edges.flatMap((edge, index) => unmetEdge(edge, required(edges[index])) ?? []);
    const isBlocked = blockers.length > 0 && !this.#standsIn(blockers, edges);
    const canUpdate = isOurs && node.gate === 'create' && edges.every((outcome) => isValuePresent(outcome));
    if (isBlocked && !canUpdate) return { ...blockedResult(blockers), ...(isOurs ? { object: asRead(present) } : {}) };
    const values = Object.fromEntries(edges.map((outcome) => [outcome.node.name, neededValue(outcome)]));
    const desired = desiredOf(member, values);
    if (isNotYet(desired))
      return {
        state: 'waiting',
        reason: 'NotYet',
        message: desired.reason,
        action: 'none',
        ...(isOurs ? { object: asRead(present) } : {}),
      };
    const outcome = await bringAbout(member, desired, { present, around });
    const { fields = plannedFields(node.kind, outcome.differences) } = outcome;
    if (dryRun) this.#fields.set(targetOf(node.kind, member.key), fields);
    return this.#resultOf(node, outcome);
  }

  /** In a plan, an object that would only come to exist cannot be ready; the planned one stands in. */
  #standsIn(blockers: readonly string[], edges: readonly NodeOutcome[]): boolean {
    if (!this.#options.dryRun) return false;
    return blockers.every((name) =>
      edges.some((outcome) =>
        [...outcome.results].some(
          ([id, { action }]) =>
            (id === '' ? outcome.node.name : `${outcome.node.name}/${id}`) === name &&
            ['created', 'applied', 'recreated', 'adopted'].includes(action),
        ),
      ),
    );
  }

  #resultOf(node: ChildNode, { object, action, differences, failure, terminating }: Outcome): Result {
    const common = {
      action,
      ...(object === undefined ? {} : { object: asRead(object) }),
      ...(differences.length === 0 ? {} : { differences: differences.map(({ path }) => path) }),
    };
    if (failure !== undefined)
      return { ...common, state: 'failed', reason: failure.reason, message: failure.message, error: failure };
    if (terminating === true)
      return { ...common, state: 'progressing', reason: 'Terminating', message: 'the object is being deleted' };
    if (object !== undefined && isPaused(object)) return pausedResult(node, object);
    return {
      ...common,
      ...(object === undefined ? { state: 'progressing', reason: 'Created', message: '' } : stateOf(node, object)),
    };
  }

  #failed(node: ChildNode, error: unknown): Result {
    if (error instanceof Superseded)
      return { state: 'waiting', reason: 'Superseded', message: error.message, action: 'none' };
    if (node.optionalKind && isMissingKind(error))
      return {
        state: 'skipped',
        reason: 'KindMissing',
        message: `the server has no ${node.kind.kind}`,
        action: 'none',
      };
    this.#options.context.signal?.throwIfAborted();
    return failed(error);
  }

  #remember(node: string, id: string, result: Result): NodeResult {
    const { memory, primary } = this.#options;
    return memory.note(memory.of(primary, { node, id }, this.#now), result, this.#now);
  }

  #event(type: 'normal' | 'warning', reason: string, text: string): void {
    if (!this.#options.dryRun) this.#options.context.events?.[type](this.#options.primary, reason, text);
  }
}

/** Waits for all, also if one fails, so that nothing goes on after the run. @throws the first failure */
async function allEnded<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/** In development called twice, to find a result that depends on the time or on chance. */
function desiredOf({ node, primary, item }: Member, values: object): unknown {
  const desired = node.desired(primary, item, values);
  if (process.env['NODE_ENV'] !== 'production' && !isSameJson(desired, node.desired(primary, item, values)))
    throw new NodeFailure(
      'InvalidDesired',
      `desired of ${node.name} returns something else each time: compute it from the arguments alone`,
    );
  return desired;
}

type Result = Omit<NodeResult, 'since'>;

interface NodePlan {
  readonly node: ChildNode;
  readonly members: readonly Member[];
  readonly isAbsent: boolean;
  readonly error?: Error;
}

function pausedResult(node: ChildNode, present: AnyObject | undefined): Result {
  if (present === undefined) return { state: 'paused', reason: 'Paused', message: 'it is not created', action: 'none' };
  const { state, message } = stateOf(node, present);
  return { state: 'paused', reason: 'Paused', message, action: 'none', object: asRead(present), data: state };
}

function blockedResult(blockers: readonly string[]): Result {
  return { state: 'blocked', reason: 'Blocked', message: `needs ${blockers.join(', ')}`, action: 'none' };
}

function failed(error: unknown): Result {
  const reason = error instanceof NodeFailure ? error.reason : 'Error';
  const { message } = asError(error);
  return { state: 'failed', reason, message, action: 'none', error: asError(error) };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(`not an Error was thrown: ${String(error)}`);
}

function entryOf(results: ReadonlyMap<string, NodeResult>, id: string): [string, NodeResult][] {
  const result = results.get(id);
  return result === undefined ? [] : [[id, result]];
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an edge leads nowhere');
  return value;
}
