import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { formatKey, hasFinalizer, isDeleting, keyOf } from '@kctl/apimachinery';
import { formatGroupKind, isJsonObject } from '@kctl/apimachinery/internal';
import { createApplyMemo } from '@kctl/client';
import type { Client } from '@kctl/client';
import { requireKind } from '@kctl/client/internal';
import type { Injectable, Plan, ReconcileFunction } from '@kctl/controller';
import { optionProblems } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import { wallTime } from '@kctl/wait/internal';
import { dependentsOptionNames, nodeProblems } from './definition/check.js';
import type { DependentsOptions } from './definition/options.js';
import type { DependentKind, Dependents, ReconcilerParts } from './contract.js';
import type { AnyObject, ChildNode, Definition, Edge, Node } from './definition/node.js';
import { isForeignScope } from './definition/node.js';
import { DependentsDefinitionError, DependentsError } from './errors.js';
import type { NodeError } from './errors.js';
import { isPaused, partOfLabel } from './ownership/labels.js';
import { planOf } from './plan.js';
import { createDependentsReconciler, dependentsFinalizer } from './reconciler.js';
import type { AnyNodeResult, DependentsResult, NodeResult } from './results.js';
import { Memory } from './run/memory.js';
import type { DependentsContext } from './run/run-context.js';
import { References, referenceTo } from './run/references.js';
import { Run } from './run/run.js';
import type { RunOutcome } from './run/run.js';
import { planTeardown, teardown } from './run/teardown.js';
import type { TeardownResult } from './run/teardown.js';
import { conditionsOf, isReadyRun, isStalled } from './status/conditions.js';
import type { NamedResults } from './status/conditions.js';
import { NodeMetrics } from './status/metrics.js';

/**
 * Begins the definition of the children of a kind.
 *
 * @throws DependentsDefinitionError naming every mistake of the options; those of nodes at the first use of the definition
 *
 * @example
 * ```ts
 * import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { dependents } from '@kctl/dependents';
 *
 * const children = dependents(Deployment, { fieldOwner: 'settings.example.com' })
 *   .ref('tls', Secret, { key: ({ metadata }) => ({ namespace: metadata.namespace, name: 'tls' }) })
 *   .child('config', ConfigMap, {
 *     needs: ['tls'],
 *     desired: ({ spec }, { tls }) => ({ data: { replicas: String(spec?.replicas), tls: tls.metadata.name } }),
 *   });
 * console.log(children.kinds.map(({ node }) => node)); // [ 'tls', 'config' ]
 * ```
 */
export function dependents<P extends Kind>(kind: P, options: DependentsOptions): Dependents<P> {
  requireKind('dependents', kind);
  const problems = isJsonObject(options)
    ? optionProblems(options, dependentsOptionNames)
    : ['options are not set: expected { fieldOwner }'];
  const { fieldOwner, formerFieldOwners = [], concurrency = 4 } = isJsonObject(options) ? options : { fieldOwner: '' };
  if (problems.length === 0 && (fieldOwner === undefined || fieldOwner === ''))
    problems.push('fieldOwner is not set: expected the name of a field owner, such as "webapp.example.com"');
  if (problems.length > 0) throw new DependentsDefinitionError(formatGroupKind(kind), problems);
  const definition: Definition = { primary: kind, fieldOwner, formerFieldOwners, concurrency, nodes: [] };
  // The methods of Graph are those of the contract without the types of nodes.
  return new Graph(definition, []) as unknown as Dependents<P>;
}

/** Options of a method, whose values are checked. */
type Given = Readonly<Record<string, unknown>>;

class Graph {
  readonly #definition: Definition;
  readonly #problems: readonly string[];
  readonly #memory = new Memory();
  readonly #memo = createApplyMemo();
  readonly #references = new References();
  /** By the client of a run, that which reads children. */
  readonly #selected = new WeakMap<Client, Client>();
  /** Whether the finalizer is that of `reconciler`, not one of the author. */
  #hasReconciler = false;

  constructor(definition: Definition, problems: readonly string[]) {
    this.#definition = definition;
    this.#problems = problems;
  }

  get kind(): Kind {
    return this.#definition.primary;
  }

  get kinds(): readonly DependentKind[] {
    const definition = this.#checked();
    return definition.nodes.map((node) => ({
      node: node.name,
      kind: node.kind,
      type: node.type,
      isOwned: node.type !== 'ref' && node.namespace === undefined && !isForeignScope(definition, node),
      isOptional: definition.nodes
        .filter(({ kind }) => formatGroupKind(kind) === formatGroupKind(node.kind))
        .every((each) => each.type !== 'ref' && each.optionalKind),
    }));
  }

  get labelSelector(): string {
    return partOfLabel;
  }

  ref(name: string, kind: Kind, options: Given): Graph {
    const { key, optional } = options ?? {};
    const node = { type: 'ref', name, kind, optional: optional === true, key } as Node;
    return this.#with('ref', { name, kind, options }, node);
  }

  child(name: string, kind: Kind, options: Given): Graph {
    const { name: objectName, desired, initial, adopt = 'never' } = options ?? {};
    const node = {
      ...this.#common(name, kind, options),
      type: 'child',
      adopt,
      items: () => new Map([['', undefined]]),
      objectName: objectName === undefined ? undefined : (primary: AnyObject) => callable(objectName)(primary),
      desired: (primary: AnyObject, _item: unknown, needed: object) => callable(desired)(primary, needed),
      initial: initial === undefined ? undefined : (primary: AnyObject) => callable(initial)(primary),
    } as unknown as ChildNode;
    return this.#with('child', { name, kind, options }, node);
  }

  set(name: string, kind: Kind, options: Given): Graph {
    const { name: objectName, desired, initial, each } = options ?? {};
    const items = (primary: AnyObject): unknown => {
      const found = callable(each)(primary);
      if (found instanceof Map) return found;
      throw new TypeError(`each of ${name} returned no Map: expected the items by id`);
    };
    const node = {
      ...this.#common(name, kind, options),
      type: 'set',
      adopt: 'never',
      items,
      objectName,
      desired,
      initial,
    } as unknown as ChildNode;
    return this.#with('set', { name, kind, options }, node);
  }

  async reconcile(primary: AnyObject, context: DependentsContext): Promise<DependentsResult> {
    const outcome = await this.#run(primary, context, false);
    const result = this.#resultOf(primary, context, outcome);
    const failures = namedResults(outcome).flatMap(([node, { error }]): NodeError[] =>
      error === undefined ? [] : [{ node, error }],
    );
    if (failures.length > 0)
      throw new DependentsError(`${this.kind.kind} ${formatKey(keyOf(primary))}`, failures, result);
    return result;
  }

  async plan(primary: AnyObject, context: DependentsContext): Promise<Plan> {
    if (isDeleting(primary)) {
      const definition = this.#checked();
      const isLeftAlone = this.#hasReconciler && !hasFinalizer(primary, dependentsFinalizer);
      return isLeftAlone ? { changes: [], obstacles: [] } : await planTeardown(definition, primary, context);
    }
    const { nodes, pruned, fields } = await this.#run(primary, context, true);
    return planOf(namedResults({ nodes, pruned: [] }), pruned, fields);
  }

  async teardown(primary: AnyObject, context: DependentsContext): Promise<TeardownResult> {
    const result = await teardown(this.#checked(), primary, this.#reading(context));
    if (result.done) this.forget(keyOf(primary));
    return result;
  }

  readThrough(client: Client, selected: Client): void {
    this.#selected.set(client, selected);
  }

  wokenBy(kind: Kind, key: ObjectKey): readonly ObjectKey[] {
    return this.#references.of(referenceTo(kind, key));
  }

  forget(primary: ObjectKey): void {
    this.#references.forget(primary);
    this.#memory.forget(primary);
  }

  reconciler(options: object = {}): Injectable<ReconcilerParts, ReconcileFunction> {
    const definition = this.#checked();
    this.#hasReconciler = true;
    return createDependentsReconciler(definition, this as never, options);
  }

  /** The context with the client that reads children from informers of their own, if there is one. */
  #reading(context: DependentsContext): DependentsContext {
    const selected = this.#selected.get(context.client);
    if (selected === undefined) return context;
    const { signal, logger, events, metrics, clock } = context;
    return {
      client: selected,
      ...(signal === undefined ? {} : { signal }),
      ...(logger === undefined ? {} : { logger }),
      ...(events === undefined ? {} : { events }),
      ...(metrics === undefined ? {} : { metrics }),
      ...(clock === undefined ? {} : { clock }),
      get isSuperseded() {
        return context.isSuperseded === true;
      },
    };
  }

  async #run(primary: AnyObject, given: DependentsContext, dryRun: boolean): Promise<RunOutcome> {
    const context = this.#reading(given);
    const definition = this.#checked();
    const memory = dryRun ? new Memory() : this.#memory;
    const references = new Set<string>();
    if (context.metrics !== undefined && !dryRun)
      memory.metrics ??= new NodeMetrics(context.metrics, definition.primary);
    try {
      return await new Run({ definition, primary, context, memory, memo: this.#memo, dryRun, references }).execute();
    } finally {
      if (!dryRun) this.#references.set(keyOf(primary), references);
    }
  }

  #resultOf(primary: AnyObject, { clock = systemClock }: DependentsContext, outcome: RunOutcome): DependentsResult {
    const results = namedResults(outcome);
    const paused = isPaused(primary);
    const nodes = Object.fromEntries(
      [...outcome.nodes].map(([name, each]): [string, AnyNodeResult] => [name, resultOf(each)]),
    );
    return {
      ready: !paused && isReadyRun(results),
      stalled: results.some(([, result]) => isStalled(result)),
      nodes,
      conditions: (present = []) =>
        conditionsOf(
          results,
          { generation: primary.metadata.generation, isPaused: paused, now: wallTime(clock) },
          present,
        ),
    };
  }

  #checked(): Definition {
    if (this.#problems.length > 0) throw new DependentsDefinitionError(formatGroupKind(this.kind), this.#problems);
    return this.#definition;
  }

  #with(
    type: 'ref' | 'child' | 'set',
    given: { readonly name: unknown; readonly kind: unknown; readonly options: unknown },
    node: Node,
  ): Graph {
    const problems = nodeProblems(type, given, this.#definition.nodes);
    const nodes = [...this.#definition.nodes, node];
    return new Graph({ ...this.#definition, nodes }, [...this.#problems, ...problems]);
  }

  #common(name: string, kind: Kind, given: Given): object {
    const { needs, needsReady, ...options } = given ?? {};
    const edges: Edge[] = [
      ...namesIn(needs).map((each) => ({ name: each, ready: false })),
      ...namesIn(needsReady).map((each) => ({ name: each, ready: true })),
    ];
    const {
      gate = 'create',
      conflicts = 'force',
      onImmutable = 'fail',
      onDelete = 'delete',
      optionalKind = false,
    } = options;
    const { when, namespace, ready } = options;
    const wave = Math.max(0, ...edges.map((edge) => this.#waveBelow(edge.name) + 1));
    return { name, kind, edges, wave, gate, conflicts, onImmutable, onDelete, optionalKind, when, namespace, ready };
  }

  /** A ref has no place in the order of deletion. */
  #waveBelow(name: string): number {
    const node = this.#definition.nodes.find((each) => each.name === name);
    return node === undefined || node.type === 'ref' ? -1 : node.wave;
  }
}

/** A function of the options, which are checked before the definition is used. */
function callable(value: unknown): (...given: readonly unknown[]) => unknown {
  return value as (...given: readonly unknown[]) => unknown;
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function resultOf({
  node,
  results,
}: {
  readonly node: Node;
  readonly results: ReadonlyMap<string, NodeResult>;
}): AnyNodeResult {
  if (node.type === 'set') return results;
  return results.get('') ?? { state: 'absent', reason: 'NotWanted', message: '', since: 0, action: 'none' };
}

/** All results of a run by their names, those of pruned objects last. */
function namedResults({ nodes, pruned }: Pick<RunOutcome, 'nodes' | 'pruned'>): NamedResults {
  return [
    ...[...nodes].flatMap(([name, { results }]) =>
      [...results].map(([id, result]): [string, NodeResult] => [id === '' ? name : `${name}/${id}`, result]),
    ),
    ...pruned.map((result): [string, NodeResult] => ['left over', result]),
  ];
}
