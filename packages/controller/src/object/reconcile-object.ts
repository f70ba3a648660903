import type { Condition, DeepReadonly, Kind, KubeObject, ObjectOf } from '@kctl/apimachinery';
import { isDeleting, mutableCopy, setControllerReference } from '@kctl/apimachinery';
import { applyIfChanged, createApplyMemo } from '@kctl/client';
import type { ApplyConfiguration, ApplyFields, ApplyMemo, Client, ReadObject } from '@kctl/client';
import { clockOption, requireOptions, shownValue } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { systemClock, type Clock } from '@kctl/wait';
import { wallTime } from '@kctl/wait/internal';
import { finalizersOption, finalizing } from '../finalizer/finalizing.js';
import type { Finalizer } from '../finalizer/finalizing.js';
import { conditionOf } from './condition-of.js';
import { ObjectMemos } from './object-memos.js';
import { writeStatus } from './write-status.js';
import { asReconciler } from './object-reconciler.js';
import type { ReconcileContext, ReconcileFunction, ReconcileResult } from '../reconciler/reconciler.js';

/** The type of the status of a kind's objects; never if it has none. */
export type StatusOf<K extends Kind> = ObjectOf<K> extends { status?: infer S } ? NonNullable<S> : never;

/**
 * Argument of {@link ObjectContext.apply}. A child needs only a name; its namespace is the owner's unless it sets one.
 */
export type ChildConfiguration<K extends Kind> = ApplyFields<ObjectOf<K>> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/** Options of {@link ObjectContext.apply}. */
export interface ApplyChildOptions {
  /** Whether the reconciled object becomes the controller of the child, so that it is deleted with it. @default true */
  readonly owned?: boolean;
  /** Whether fields owned by others are taken over. @default true, as Kubernetes recommends for controllers */
  readonly force?: boolean;
}

/** The context of a run on an object. Its functions are properties, so that they can be taken out of it. */
export interface ObjectContext extends ReconcileContext {
  /** Reads from the cache if it has one, in the same shape as the object. */
  readonly client: Client;
  /**
   * State of this object in this process. Created at the first call, the same for all later runs, and dropped when the
   * object is gone. It is lost with the process; state that must not be lost belongs in the status.
   */
  readonly memo: <T>(create: () => T) => T;
  /**
   * Brings a child to its configuration by server-side apply, with the reconciled object as its controller and the
   * controller's name as the field owner. Nothing is sent if the child is already up to date.
   *
   * @throws ApplyConflictError with `force: false`, when others own some of the fields; TypeError when the reconciled
   * object cannot own the child, e.g. one in another namespace (pass `owned: false`)
   */
  readonly apply: <C extends Kind>(
    kind: C,
    configuration: ChildConfiguration<C>,
    options?: ApplyChildOptions,
  ) => Promise<ReadObject<C>>;
  /**
   * Returns a condition for the status, with the generation of the object. Its `lastTransitionTime` is that of the
   * object's condition of this type while the status is the same.
   *
   * @param status true, false, or undefined for `Unknown`
   * @param reason CamelCase, for programs
   *
   * @example
   * ```ts
   * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
   * import type { Condition } from '@kctl/apimachinery';
   * import type { ObjectContext } from '@kctl/controller';
   *
   * function conditionsOf(isReady: boolean, { condition }: ObjectContext): Condition[] {
   *   return [condition('Available', isReady, isReady ? 'Ready' : 'Starting', `${Deployment.kind} is checked`)];
   * }
   * ```
   */
  readonly condition: (type: string, status: boolean | undefined, reason: string, message?: string) => Condition;
}

/** Result of a run on an object. */
export interface ObjectResult<K extends Kind> extends ReconcileResult {
  /** The whole status; fields left out are removed. If left out itself, the status is not written. */
  readonly status?: DeepReadonly<StatusOf<K>>;
}

/** A reconcile that is handed the object and returns its status. */
export type ObjectReconcileFunction<K extends Kind> = (
  object: ReadObject<K>,
  context: ObjectContext,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- as in ReconcileFunction
) => Promise<ObjectResult<K> | void>;

/** Options for `reconcile` of a builder besides the function. */
export interface ObjectReconcileSettings<K extends Kind> {
  /** See `finalizing`. Without one, objects that are being deleted are not reconciled. @default none */
  readonly finalizers?: readonly Finalizer<K, ObjectContext>[];
}

/** Options of {@link reconcileObject}. */
export interface ReconcileObjectOptions<K extends Kind> extends ObjectReconcileSettings<K> {
  readonly client: Client;
  readonly kind: K;
  /** The field owner of children and of the status (the controller's name). */
  readonly fieldOwner: string;
  readonly reconcile: ObjectReconcileFunction<K>;
  /** Of the times of conditions. @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<ReconcileObjectOptions<never>> = {
  client: true,
  kind: true,
  fieldOwner: true,
  reconcile: true,
  finalizers: finalizersOption,
  clock: clockOption,
};
/**
 * A reconciler that is handed the object as the cache has it, typed as read, and returns its status:
 *
 * - An object that does not exist, or is being deleted, does not arrive; with `finalizers` its clean-up runs.
 * - The status is written if it changed, and only for the generation that was reconciled. If the spec has changed
 *   meanwhile, the event of that change leads to a run that writes its own.
 * - Children are applied with `context.apply`.
 *
 * After `UpdateControl` of the Java Operator SDK.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createController, reconcileObject } from '@kctl/controller';
 *
 * createController({
 *   name: 'settings',
 *   reconciler: reconcileObject({
 *     client,
 *     kind: Deployment,
 *     fieldOwner: 'settings',
 *     reconcile: async ({ metadata, spec }, { apply }) => {
 *       await apply(ConfigMap, { metadata: { name: metadata.name }, data: { replicas: String(spec?.replicas) } });
 *       return { requeueAfterMs: 300_000 };
 *     },
 *   }),
 * });
 * ```
 */
export function reconcileObject<K extends Kind>(options: ReconcileObjectOptions<K>): ReconcileFunction {
  requireOptions('reconcileObject', options, optionNames);
  const { client, kind, fieldOwner, finalizers = [] } = options;
  if (typeof options.reconcile !== 'function')
    throw new TypeError(`reconcileObject: reconcile is of type ${typeof options.reconcile}: give a function`);
  const memo = createApplyMemo();
  const memos = new ObjectMemos();
  const run = async (object: ReadObject<K>, context: ObjectContext): Promise<ReconcileResult> => {
    const returned = (await options.reconcile(object, context)) ?? {};
    // Not a result, so the controller reports the error.
    if (typeof returned !== 'object') return returned;
    const { status, ...result } = returned;
    requireStatus(status);
    if (status !== undefined)
      await writeStatus({ client, kind, fieldOwner }, object, { status, signal: context.signal });
    return result;
  };
  const step =
    finalizers.length > 0
      ? finalizing<K, ObjectContext>({ client, kind, finalizers, apply: run })
      : async (object: ReadObject<K>, context: ObjectContext): Promise<ReconcileResult> =>
          isDeleting(object) ? {} : await run(object, context);
  const parts = { client, kind, fieldOwner, memo, memos, clock: options.clock ?? systemClock };
  return asReconciler({
    client,
    kind,
    reconcile: async (owner, context) => await step(owner, new ChildContext({ ...parts, owner, context })),
    onMissing: (request) => memos.drop(request),
  });
}

/** The server would answer with the whole object in its message. @throws TypeError */
function requireStatus(status: unknown): void {
  if (status === undefined || (typeof status === 'object' && !Array.isArray(status))) return;
  const shown = Array.isArray(status) ? 'an array' : shownValue(status);
  throw new TypeError(`reconcile: status is ${shown}: expected an object, or nothing where it stays as it is`);
}

interface ChildContextParts<K extends Kind> {
  readonly client: Client;
  readonly kind: K;
  readonly fieldOwner: string;
  readonly memo: ApplyMemo;
  readonly memos: ObjectMemos;
  readonly owner: ReadObject<K>;
  readonly context: ReconcileContext;
  readonly clock: Clock;
}

/** The context of the run, with the parts created for its object. Signals are created on first access. */
class ChildContext<K extends Kind> implements ObjectContext {
  readonly #parts: ChildContextParts<K>;
  readonly client: Client;
  readonly apply: ObjectContext['apply'];
  readonly memo: ObjectContext['memo'];
  readonly condition: ObjectContext['condition'];

  constructor(parts: ChildContextParts<K>) {
    this.#parts = parts;
    this.client = parts.client;
    // Own properties, because they are taken out of the context by destructuring.
    this.memo = (create) => parts.memos.of(parts.owner, create);
    this.condition = (type, status, reason, message = '') =>
      conditionOf(parts.owner, { type, status, reason, message }, wallTime(parts.clock));
    this.apply = (kind, configuration, options) => this.#apply(kind, configuration, options);
  }

  get signal(): AbortSignal {
    return this.#parts.context.signal;
  }

  get superseded(): AbortSignal {
    return this.#parts.context.superseded;
  }

  get isSuperseded(): boolean {
    return this.#parts.context.isSuperseded;
  }

  get logger(): ReconcileContext['logger'] {
    return this.#parts.context.logger;
  }

  get span(): ReconcileContext['span'] {
    return this.#parts.context.span;
  }

  get reconcileId(): string {
    return this.#parts.context.reconcileId;
  }

  get attempt(): number {
    return this.#parts.context.attempt;
  }

  get isLastAttempt(): boolean {
    return this.#parts.context.isLastAttempt;
  }

  get priority(): number {
    return this.#parts.context.priority;
  }

  get reasons(): readonly string[] {
    return this.#parts.context.reasons;
  }

  async #apply<C extends Kind>(
    kind: C,
    configuration: ChildConfiguration<C>,
    { owned = true, force = true }: ApplyChildOptions = {},
  ): Promise<ReadObject<C>> {
    const { client, fieldOwner, memo, owner, context } = this.#parts;
    const metadata = mutableCopy(configuration.metadata) as KubeObject['metadata'];
    const { namespace } = owner.metadata;
    if (kind.scope === 'Namespaced' && metadata.namespace === undefined && namespace !== undefined)
      metadata.namespace = namespace;
    const draft: KubeObject = { metadata };
    if (owned) setControllerReference(owner, this.#parts.kind, draft);
    const { object } = await applyIfChanged(
      client,
      kind,
      // The metadata is complete now.
      { ...configuration, metadata: draft.metadata } as ApplyConfiguration<C>,
      { fieldOwner, force, memo, signal: context.signal },
    );
    return object;
  }
}
