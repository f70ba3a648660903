import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { ReadObject } from '@kctl/client';
import type { Injectable, Plan, ReconcileFunction } from '@kctl/controller';
import type { Client } from '@kctl/client';
import type { Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { DependentsResult, NodeResult } from './results.js';
import type { DependentsContext, DependentsEvents } from './run/run-context.js';
import type { TeardownResult } from './run/teardown.js';
import type { ChildOptions, Edges, RefOptions, SetOptions } from './definition/options.js';

/** A node as those that need it and the results see it. */
export interface NodeShape<Value, Result> {
  readonly value: Value;
  readonly result: Result;
}

/** The argument of `desired`: the objects of the nodes that it names. */
export type Needed<Nodes, Names extends string> = {
  readonly [N in Names & keyof Nodes]: Nodes[N] extends NodeShape<infer Value, unknown> ? Value : never;
};

/** Results by node. */
export type NodeResults<Nodes> = {
  readonly [N in keyof Nodes]: Nodes[N] extends NodeShape<unknown, infer Result> ? Result : never;
};

type Names<Nodes> = keyof Nodes & string;
type With<Nodes, N extends string, Value, Result> = Nodes & Readonly<Record<N, NodeShape<Value, Result>>>;

/**
 * The children of a kind as a graph: each method adds a node and returns the larger definition. A node names only nodes
 * above it, so that a cycle cannot be written. Immutable; a definition may be extended twice.
 */
export interface Dependents<P extends Kind, Nodes extends object = object> {
  /** The kind whose objects have these children. */
  readonly kind: P;
  /** The kinds of the nodes, for watches and rights. */
  readonly kinds: readonly DependentKind[];
  /** Selects the children of all primaries, for informers that hold no other objects of their kinds. */
  readonly labelSelector: string;
  /**
   * An object of somebody else, which is read, and never written. Without it, nodes that need it are blocked; with
   * `optional` they get undefined.
   */
  ref<const N extends string, K extends Kind>(
    name: N,
    kind: K,
    options: RefOptions<P> & { readonly optional?: false },
  ): Dependents<P, With<Nodes, N, ReadObject<K>, NodeResult<K>>>;
  ref<const N extends string, K extends Kind>(
    name: N,
    kind: K,
    options: RefOptions<P> & { readonly optional: boolean },
  ): Dependents<P, With<Nodes, N, ReadObject<K> | undefined, NodeResult<K>>>;
  /** One object. With `when` it may be unwanted, and those that need it get undefined then. */
  child<
    const N extends string,
    K extends Kind,
    const Needs extends Names<Nodes> = never,
    const Ready extends Names<Nodes> = never,
  >(
    name: N,
    kind: K,
    options: Edges<Needs, Ready> & ChildOptions<P, K, Needed<Nodes, Needs | Ready>> & { readonly when?: undefined },
  ): Dependents<P, With<Nodes, N, ReadObject<K>, NodeResult<K>>>;
  child<
    const N extends string,
    K extends Kind,
    const Needs extends Names<Nodes> = never,
    const Ready extends Names<Nodes> = never,
  >(
    name: N,
    kind: K,
    options: Edges<Needs, Ready> &
      ChildOptions<P, K, Needed<Nodes, Needs | Ready>> & {
        /** Whether the object is wanted. One that is not is deleted, see `onDelete`. */
        readonly when: (primary: ReadObject<P>) => boolean;
      },
  ): Dependents<P, With<Nodes, N, ReadObject<K> | undefined, NodeResult<K>>>;
  /** One object for each item of a map. */
  set<
    const N extends string,
    K extends Kind,
    Item,
    const Needs extends Names<Nodes> = never,
    const Ready extends Names<Nodes> = never,
  >(
    name: N,
    kind: K,
    options: Edges<Needs, Ready> &
      SetOptions<P, K, Item, Needed<Nodes, Needs | Ready>> & { readonly when?: (primary: ReadObject<P>) => boolean },
  ): Dependents<P, With<Nodes, N, ReadonlyMap<string, ReadObject<K>>, ReadonlyMap<string, NodeResult<K>>>>;
  /**
   * Brings all children to what the primary wants, deletes those that it does not want, and returns how far each is. A
   * second run over an unchanged world sends nothing. Runs for one primary must not overlap; a controller sees to that.
   *
   * @throws DependentsError after all nodes ran, if some of them failed
   */
  reconcile(primary: ReadObject<P>, context: DependentsContext): Promise<DependentsResult<NodeResults<Nodes>>>;
  /**
   * Returns the changes that `reconcile` would make. Sends dry runs, and changes nothing. An object that would only come
   * to exist counts as ready for those that need it. Of a primary that is being deleted, the children that would go; none if
   * {@link reconciler} was called and the primary lacks its finalizer, because the garbage collector deletes them then.
   */
  plan(primary: ReadObject<P>, context: DependentsContext): Promise<Plan>;
  /**
   * One step of the deletion of all children, in the order of their waves, from the highest; for the clean-up of a
   * finalizer. Waits for nothing: call it again after an event of a child.
   */
  teardown(primary: ReadObject<P>, context: DependentsContext): Promise<TeardownResult>;
  /**
   * The primaries whose last run looked at an object that does not name its primary: a ref, or a child in another
   * namespace. For the map function of a watch; the builder's `dependents` has it.
   */
  wokenBy(kind: Kind, key: ObjectKey): readonly ObjectKey[];
  /**
   * Has runs with the first client read and write children through the second one, whose informers hold children alone.
   * The builder calls it.
   */
  readThrough(client: Client, selected: Client): void;
  /** Forgets what {@link wokenBy} knows of a primary that is gone. `reconciler` calls it. */
  forget(primary: ObjectKey): void;
  /**
   * A reconciler for a controller of the primary's kind: finalizer, children, teardown and status. The manager or builder
   * that it is added to provides its parts.
   */
  reconciler(options?: ReconcilerOptions<P, NodeResults<Nodes>>): Injectable<ReconcilerParts, ReconcileFunction>;
}

/** Options of `reconciler` of {@link Dependents}. */
export interface ReconcilerOptions<P extends Kind, Nodes extends object> {
  /**
   * Further fields of the status. `conditions` and `observedGeneration` are filled in; fields that are left out are kept.
   *
   * @default none
   */
  readonly status?: (primary: ReadObject<P>, result: DependentsResult<Nodes>) => object;
  /** Records what happens to children on the primary, e.g. `manager.recorder('example.com/webapp')`. @default none */
  readonly events?: DependentsEvents;
}

/** Parts that a manager or builder provides for a reconciler. */
export interface ReconcilerParts {
  readonly client: Client;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** A kind that a definition uses. */
export interface DependentKind {
  readonly node: string;
  readonly kind: Kind;
  readonly type: 'ref' | 'child' | 'set';
  /** Whether its objects have the primary as their controller, so that their events name it. */
  readonly isOwned: boolean;
  /** Whether the server may lack the kind, see `optionalKind`. */
  readonly isOptional: boolean;
}
