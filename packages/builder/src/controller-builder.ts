import type { KeyOf, Kind, MetadataKind, NamespacedKey, ObjectKey } from '@kctl/apimachinery';
import type { Client, ReadObject } from '@kctl/client';
import type {
  Controller,
  ControllerOptions,
  ControllerSettings,
  EventHandler,
  InformerProvider,
  ObjectReconcileFunction,
  ObjectReconcileSettings,
  Plan,
  Predicate,
  Reconciler,
  ReconcileRequest,
  Source,
  WatchOptions,
} from '@kctl/controller';
import type { Provided } from '@kctl/controller/internal';
import type { ManagerDependencies } from '@kctl/manager';
import type { AccessOptions, AccessVerb } from '@kctl/rbac';
import type { Logger, LogFields, Metrics, Tracer } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';

/** The object type that events of a kind carry. */
export type Watched<K extends Kind> = ReadObject<K>;

/** Options of one input. */
export interface InputOptions<K extends Kind> extends WatchOptions {
  /** All must agree, after those of `withEventFilter`. @default none */
  readonly predicates?: readonly Predicate<Watched<K>>[];
}

/** Options of an input whose predicates see whole objects. */
export interface WholeInputOptions<K extends Kind> extends InputOptions<K> {
  /** Watches metadata only, which is cheaper; the predicates then see no more. @default false */
  readonly onlyMetadata?: false;
}

/** Options of an input whose predicates see metadata alone. */
export interface MetadataInputOptions<K extends Kind> extends InputOptions<MetadataKind<K>> {
  readonly onlyMetadata: true;
}

/** Which part of its objects an input watches, with predicates on that part. */
export type ShapedInputOptions<K extends Kind> = WholeInputOptions<K> | MetadataInputOptions<K>;

/** Options of {@link ControllerBuilder.for}. */
export type ForOptions<K extends Kind> = ShapedInputOptions<K>;

/** Options of `owns` alone. */
export interface OwnerOptions {
  /** Every owner of the `for` kind is reconciled, not the managing controller alone. @default false */
  readonly matchEveryOwner?: boolean;
}

/** Options of {@link ControllerBuilder.owns}. */
export type OwnsOptions<K extends Kind> = ShapedInputOptions<K> & OwnerOptions;

/** `for` queues keys of objects. A request type of another shape does not compile. */
export type ReconciledKind<K extends Kind, R> = KeyOf<K> extends R ? K : never;

/** `owns` queues keys of owners. A request type of another shape does not compile. */
export type OwnedKind<K extends Kind, R> = NamespacedKey extends R ? K : never;

/**
 * Whether the request type still follows from the kind of `for` (`open`) or is settled (`fixed`), either because `for`
 * was called or because a handler or raw source that was added before it may queue any key.
 */
export type RequestState = 'open' | 'fixed';

/**
 * The request type after `for(kind)`, which is the kind's key, with a namespace if it is namespaced, unless `R` was
 * given.
 */
export type RequestFor<K extends Kind, R, S extends RequestState> = S extends 'open'
  ? [R, ReconcileRequest, keyof R] extends [ReconcileRequest, R, keyof ReconcileRequest]
    ? KeyOf<K>
    : R
  : R;

/** Children that are declared, such as those of @kctl/dependents, as far as a definition needs to know them. */
export interface DeclaredChildren<K extends Kind> {
  readonly kind: K;
  readonly kinds: readonly {
    readonly kind: Kind;
    readonly type: 'ref' | 'child' | 'set';
    /** Whether its objects have the primary as their controller. */
    readonly isOwned: boolean;
    /** Whether the server may lack the kind. @default false */
    readonly isOptional?: boolean;
  }[];
  /** The label of every child. @default informers hold all objects of a kind */
  readonly labelSelector?: string;
  /** Has runs that are given the first client read children through the second one. */
  readThrough?(client: Client, selected: Client): void;
  /** The changes that a reconcile would make, see `Planner` of @kctl/controller. */
  plan(primary: ReadObject<K>, context: { readonly client: Client; readonly signal?: AbortSignal }): Promise<Plan>;
  /** The primaries that look at an object that they do not own. */
  wokenBy(kind: Kind, key: ObjectKey): readonly ObjectKey[];
}

/** Kinds of which the objects with some labels alone are held. */
export interface SelectOptions {
  /** Distinguishes the informers from others of their kinds, in logs and metrics. */
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** Kinds that the server may lack. */
  readonly optionalKinds: readonly Kind[];
  readonly labelSelector: string;
}

/** Informers of selected kinds, and a client that reads these kinds from them. */
export interface SelectedKinds {
  readonly informers: InformerProvider;
  readonly client: Client;
}

/** Settings of the controller that are not specified elsewhere in the definition. */
export type BuilderOptions<R> = Omit<
  ControllerOptions<R>,
  'name' | 'reconciler' | 'logger' | 'logFields' | 'metrics' | 'tracer' | 'requestCounter' | 'observer' | 'clock'
>;

/**
 * The parts of a manager that the builder needs; the manager of @kctl/manager has them. `D` is the type of the
 * dependencies that can be injected.
 */
export interface ControllerHost<D extends object = object> {
  readonly dependencies: D;
  readonly cache: InformerProvider & {
    namespacesFor?(kind: Kind): readonly string[] | undefined;
    /** Whether an informer of all objects of a kind answers reads. @default false */
    isCached?(kind: Kind): boolean;
  };
  /** Has kinds of declared children held by their label. @default informers hold all objects of a kind */
  select?(options: SelectOptions): SelectedKinds;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly controllerDefaults: ControllerSettings & {
    readonly groupKindConcurrency?: Readonly<Record<string, number>>;
  };
  add(controller: Controller<never>): unknown;
}

/**
 * Defines a controller. Each method returns the builder; nothing happens before `complete` or `build`, which find all
 * mistakes of the definition at once. Handlers, predicates, sources and the reconciler may be made by `inject` of
 * @kctl/controller, and then get the parts of the manager that they need at `complete`. Mirrors `builder.TypedBuilder`.
 */
export interface ControllerBuilder<
  R = ReconcileRequest,
  D extends object = ManagerDependencies,
  S extends RequestState = 'fixed',
  /** The kind of `for`; never before it was called. */
  F extends Kind = never,
> {
  /**
   * The kind to reconcile. An event of an object queues the object. Once in a definition. As the first input it also
   * determines the requests, so those of a namespaced kind have a namespace. A request that is a name alone, which only
   * a handler of `watches` or a raw source could queue, then fails without reaching the reconciler, whatever the
   * request type.
   */
  for<K extends Kind>(
    kind: ReconciledKind<K, R>,
    options?: WholeInputOptions<K>,
  ): ControllerBuilder<RequestFor<K, R, S>, D, 'fixed', K>;
  // One signature for each shape, because with a union a predicate that is written in place would have no type.
  for<K extends Kind>(
    kind: ReconciledKind<K, R>,
    options: MetadataInputOptions<K>,
  ): ControllerBuilder<RequestFor<K, R, S>, D, 'fixed', K>;
  for<K extends Kind>(
    kind: ReconciledKind<K, R>,
    options?: ForOptions<K>,
  ): ControllerBuilder<RequestFor<K, R, S>, D, 'fixed', K>;
  /** A kind that reconciled objects own. An event of an object queues its owner of the `for` kind. */
  owns<K extends Kind>(
    kind: OwnedKind<K, R>,
    options?: WholeInputOptions<K> & OwnerOptions,
  ): ControllerBuilder<R, D, S, F>;
  owns<K extends Kind>(
    kind: OwnedKind<K, R>,
    options: MetadataInputOptions<K> & OwnerOptions,
  ): ControllerBuilder<R, D, S, F>;
  owns<K extends Kind>(kind: OwnedKind<K, R>, options?: OwnsOptions<K>): ControllerBuilder<R, D, S, F>;
  /**
   * The kinds of declared children: watches and rights follow from them. Kinds that are children are owned, and what they
   * refer to wakes those that do. The reconciler is that of the children, or calls them.
   */
  dependents(children: DeclaredChildren<F>): ControllerBuilder<R, D, S, F>;
  /** Any kind, with any handler. */
  watches<K extends Kind>(
    kind: K,
    handler: Provided<EventHandler<Watched<K>, R>, D>,
    options?: InputOptions<K>,
  ): ControllerBuilder<R, D, 'fixed', F>;
  /** Like {@link watches}, with metadata only, so reading `.spec` does not compile. */
  watchesMetadata<K extends Kind>(
    kind: K,
    handler: Provided<EventHandler<Watched<MetadataKind<K>>, R>, D>,
    options?: InputOptions<MetadataKind<K>>,
  ): ControllerBuilder<R, D, 'fixed', F>;
  /** Any source; the predicates of `withEventFilter` do not apply to it. */
  watchesRawSource(source: Provided<Source<R>, D>): ControllerBuilder<R, D, 'fixed', F>;
  /**
   * A source whose requests are not reconciled. Instead, each has all inputs reconciled once more, at low priority. For
   * changes that concern every object, such as a new configuration. See `Controller.reconcileAllOn` of
   * @kctl/controller.
   */
  reconcileAllOn(source: Provided<Source<unknown>, D>): ControllerBuilder<R, D, S, F>;
  /** Predicates of every input but raw sources, evaluated before those of the input. Several calls add up. */
  withEventFilter(...predicates: readonly Provided<Predicate, D>[]): ControllerBuilder<R, D, S, F>;
  /** Settings; they win over the manager's. A second call replaces what it names; an undefined one names nothing. */
  withOptions(options: BuilderOptions<R>): ControllerBuilder<R, D, S, F>;
  /**
   * Declares rights that the reconciler needs beside those of its watches and those that are assumed; for `generateRbac` of
   * @kctl/rbac, `kctl generate rbac` and the recorder of a test. It is assumed that `complete` updates and patches the
   * status of the kind of `for`, if it can have one, and creates, updates, patches and deletes the kinds that it owns;
   * `reconcile` patches the status, and creates and patches owned kinds. The rights are granted in the namespaces of the
   * cache, unless `options` name others.
   */
  needs(kind: Kind, verbs: readonly AccessVerb[], options?: AccessOptions): ControllerBuilder<R, D, S, F>;
  /**
   * Declares rights as {@link needs} does, in place of those that are assumed for the resource. Without a verb it declares
   * that the resource is not written: `.onlyNeeds(Namespace, [], { subresource: 'status' })`.
   */
  onlyNeeds(kind: Kind, verbs: readonly AccessVerb[], options?: AccessOptions): ControllerBuilder<R, D, S, F>;
  /**
   * Fields of the logs of one request. @default as controller-runtime (controllerGroup, controllerKind, the object, …)
   */
  withLogFields(logFields: (request: R) => LogFields): ControllerBuilder<R, D, S, F>;
  /** @default the lower-cased kind of `for` */
  named(name: string): ControllerBuilder<R, D, S, F>;
  /**
   * Makes the controller and adds it to the manager.
   *
   * @throws DefinitionError naming every mistake
   */
  complete(reconciler: Provided<Reconciler<R>, D>): Controller<R>;
  /**
   * Like {@link complete}, with a function that is handed the object of `for` instead of its key and returns its status:
   * see `reconcileObject` of @kctl/controller. Children are applied with the controller's name as the field owner.
   *
   * @throws DefinitionError naming every mistake
   */
  reconcile(work: ObjectReconcileFunction<F>, options?: ObjectReconcileSettings<F>): Controller<R>;
  /** Same as {@link complete}. */
  build(reconciler: Provided<Reconciler<R>, D>): Controller<R>;
}
