import type { DeepReadonly, Kind, MetadataKind, ObjectOf } from '@kctl/apimachinery';
import type {
  Controller,
  ControllerOptions,
  ControllerSettings,
  EventHandler,
  InformerProvider,
  Predicate,
  Provided,
  Reconciler,
  ReconcileRequest,
  Source,
} from '@kctl/controller';
import type { ManagerDependencies } from '@kctl/manager';
import type { Logger, LogFields, Metrics, Tracer } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';

/** The object type that events of a kind carry. */
export type Watched<K extends Kind> = DeepReadonly<ObjectOf<K>>;

/** Options of one input. */
export interface InputOptions<K extends Kind> {
  /** All must agree, after those of `withEventFilter`. @default none */
  readonly predicates?: readonly Predicate<Watched<K>>[];
}

/** Which part of its objects an input watches, with predicates on that part. */
export type ShapedInputOptions<K extends Kind> =
  | (InputOptions<K> & {
      /** Watches metadata only, which is cheaper; the predicates then see no more. @default false */
      readonly onlyMetadata?: false;
    })
  | (InputOptions<MetadataKind<K>> & { readonly onlyMetadata: true });

/** Options of {@link ControllerBuilder.for}. */
export type ForOptions<K extends Kind> = ShapedInputOptions<K>;

/** Options of {@link ControllerBuilder.owns}. */
export type OwnsOptions<K extends Kind> = ShapedInputOptions<K> & {
  /** Every owner of the `for` kind is reconciled, not the managing controller alone. @default false */
  readonly matchEveryOwner?: boolean;
};

/** `for` and `owns` queue keys of objects: with a request type of another shape they do not compile. */
export type KeyedInput<K extends Kind, R> = ReconcileRequest extends R ? K : never;

/** Settings of the controller that are not said elsewhere in the definition. */
export type BuilderOptions<R> = Omit<
  ControllerOptions<R>,
  'name' | 'reconciler' | 'logger' | 'logFields' | 'metrics' | 'tracer' | 'clock'
>;

/** What the builder needs of a manager; that of @kctl/manager is one. `D` is what can be injected. */
export interface ControllerHost<D extends object = object> {
  readonly dependencies: D;
  readonly cache: InformerProvider;
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
 * @kctl/controller: they get what they need of the manager at `complete`. Mirrors `builder.TypedBuilder`.
 */
export interface ControllerBuilder<R = ReconcileRequest, D extends object = ManagerDependencies> {
  /** The kind to reconcile: an event of an object queues the object. Once in a definition. */
  for<K extends Kind>(kind: KeyedInput<K, R>, options?: ForOptions<K>): ControllerBuilder<R, D>;
  /** A kind that reconciled objects own: an event of an object queues its owner of the `for` kind. */
  owns<K extends Kind>(kind: KeyedInput<K, R>, options?: OwnsOptions<K>): ControllerBuilder<R, D>;
  /** Any kind, with any handler. */
  watches<K extends Kind>(
    kind: K,
    handler: Provided<EventHandler<Watched<K>, R>, D>,
    options?: InputOptions<K>,
  ): ControllerBuilder<R, D>;
  /** Like {@link watches}, with metadata only: reading `.spec` does not compile. */
  watchesMetadata<K extends Kind>(
    kind: K,
    handler: Provided<EventHandler<Watched<MetadataKind<K>>, R>, D>,
    options?: InputOptions<MetadataKind<K>>,
  ): ControllerBuilder<R, D>;
  /** Any source; the predicates of `withEventFilter` do not apply to it. */
  watchesRawSource(source: Provided<Source<R>, D>): ControllerBuilder<R, D>;
  /** Predicates of every input but raw sources, asked before the input's own. Several calls add up. */
  withEventFilter(...predicates: readonly Provided<Predicate, D>[]): ControllerBuilder<R, D>;
  /** Settings; they win over the manager's. A second call replaces what it names. */
  withOptions(options: BuilderOptions<R>): ControllerBuilder<R, D>;
  /** Fields of the logs of one request. @default as controller-runtime: controllerGroup, controllerKind, the object, … */
  withLogFields(logFields: (request: R) => LogFields): ControllerBuilder<R, D>;
  /** @default the lower-cased kind of `for` */
  named(name: string): ControllerBuilder<R, D>;
  /**
   * Makes the controller and adds it to the manager.
   *
   * @throws DefinitionError naming every mistake
   */
  complete(reconciler: Provided<Reconciler<R>, D>): Controller<R>;
  /** Same as {@link complete}. */
  build(reconciler: Provided<Reconciler<R>, D>): Controller<R>;
}
