import type { Kind, MetadataKind, ObjectKey } from '@kctl/apimachinery';
import { keyOf } from '@kctl/apimachinery';
import { formatGroupKind, isSameKind } from '@kctl/apimachinery/internal';
import type { Client } from '@kctl/client';
import type {
  Controller,
  EventHandler,
  EventObject,
  ObjectReconcileFunction,
  ObjectReconcileSettings,
  Planner,
  Predicate,
  Reconciler,
  ReconcileRequest,
  Source,
} from '@kctl/controller';
import type { Provided } from '@kctl/controller/internal';
import {
  createController,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMapFunc,
  inject,
  isInjectable,
  provide,
  reconcileObject,
} from '@kctl/controller';
import type { ManagerDependencies } from '@kctl/manager';
import { accessTo, type AccessNeed, type AccessOptions, type AccessVerb } from '@kctl/rbac';
import { needProblems } from '@kctl/rbac/internal';
import type { LogFields } from '@kctl/telemetry';
import { optionProblems, shownValue, withoutUndefined } from '@kctl/options';
import type {
  BuilderOptions,
  ControllerBuilder,
  ControllerHost,
  DeclaredChildren,
  ForOptions,
  InputOptions,
  OwnedKind,
  OwnsOptions,
  ReconciledKind,
  RequestFor,
  RequestState,
  Watched,
} from './controller-builder.js';
import { findProblems } from './definition.js';
import { controllerNeeds } from './access-needs.js';
import { DefinitionError } from './errors.js';
import { findHostProblems } from './host.js';
import type { Input } from './input.js';
import { describeKind, eraseInput, isKind, sourceOf } from './input.js';
import type { GivenOptions } from './input-options.js';
import { Problems } from './problems.js';
import { requireNamespace } from './require-namespace.js';
import { selectChildren, type AnyChildren } from './select-children.js';
import { settingProblems } from './setting-problems.js';

/**
 * Begins the definition of a controller that `host`, usually a manager, will run. Mirrors `NewControllerManagedBy`.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { controllerManagedBy } from '@kctl/builder';
 *
 * controllerManagedBy(manager)
 *   .for(ConfigMap)
 *   .owns(Deployment)
 *   .reconcile(async ({ metadata: { name } }, { logger }) => {
 *     logger.info('seen', { name });
 *     return { requeueAfterMs: 60_000 };
 *   });
 * ```
 */
export function controllerManagedBy<R = ReconcileRequest, D extends object = ManagerDependencies>(
  host: ControllerHost<D>,
): ControllerBuilder<R, D, 'open'> {
  return new Definition<R, D, 'open'>(host);
}

class Definition<R, D extends object, S extends RequestState, F extends Kind = never>
  implements ControllerBuilder<R, D, S, F>
{
  readonly #host: ControllerHost<D>;
  readonly #forKinds: Kind[] = [];
  readonly #ownedKinds: Kind[] = [];
  /** Kinds whose children are declared. */
  readonly #childrenOf: Kind[] = [];
  readonly #children: AnyChildren[] = [];
  readonly #planners: Planner[] = [];
  /** Inputs in the order of their calls; that of `owns` needs the kind of `for`, which may come later. */
  readonly #inputs: (() => Input<R>)[] = [];
  readonly #rawSources: Provided<Source<R>, D>[] = [];
  readonly #triggers: Provided<Source<unknown>, D>[] = [];
  readonly #filters: Provided<Predicate, D>[] = [];
  #options: BuilderOptions<R> = {};
  readonly #optionProblems: string[] = [];
  readonly #declaredNeeds: Readonly<Record<'needs' | 'onlyNeeds', AccessNeed[]>> = { needs: [], onlyNeeds: [] };
  #objectReconciler: { readonly hasFinalizers: boolean } | undefined;
  #logFields: ((request: R) => LogFields) | undefined;
  #name: string | undefined;
  /** Whether an input was added that may queue any key. */
  #takesAnyKey = false;
  #requiresNamespace = false;

  constructor(host: ControllerHost<D>) {
    this.#host = host;
  }

  for<K extends Kind>(
    kind: ReconciledKind<K, R>,
    options?: ForOptions<K>,
  ): ControllerBuilder<RequestFor<K, R, S>, D, 'fixed', K> {
    this.#forKinds.push(kind);
    this.#requiresNamespace ||= !this.#takesAnyKey && isKind(kind) && kind.scope === 'Namespaced';
    this.#addKeyed('for', kind, options, () => enqueueRequestForObject());
    // The same definition, which from now on requires of requests what the narrower type promises.
    return this as unknown as ControllerBuilder<RequestFor<K, R, S>, D, 'fixed', K>;
  }

  owns<K extends Kind>(kind: OwnedKind<K, R>, options?: OwnsOptions<K>): this {
    const onlyControllerOwner = options?.matchEveryOwner !== true;
    this.#ownedKinds.push(kind);
    const handler = (): EventHandler<EventObject, ObjectKey> =>
      enqueueRequestForOwner(this.#forKinds[0] ?? kind, { onlyControllerOwner });
    return this.#addKeyed('owns', kind, options, handler);
  }

  dependents(children: DeclaredChildren<F>): this {
    const given: unknown = children;
    if (typeof given !== 'object' || given === null || !('wokenBy' in given)) {
      this.#optionProblems.push(
        `dependents(${shownValue(children)}): expected children of dependents() of @kctl/dependents`,
      );
      return this;
    }
    const { kind: primary, kinds } = children;
    this.#childrenOf.push(primary);
    this.#planners.push(children);
    this.#children.push(children);
    const seen = new Set(this.#ownedKinds.map((kind) => formatGroupKind(kind)));
    const isRef = new Set(kinds.filter(({ type }) => type === 'ref').map(({ kind }) => formatGroupKind(kind)));
    for (const { kind, isOptional } of kinds.filter(({ isOwned }) => isOwned)) {
      if (seen.has(formatGroupKind(kind))) continue;
      seen.add(formatGroupKind(kind));
      this.#ownedKinds.push(kind);
      // Requests are keys of the primary, as with owns().
      const handler = (): EventHandler<EventObject, R> =>
        enqueueRequestForOwner(this.#forKinds[0] ?? kind, { onlyControllerOwner: true }) as never;
      this.#addChildren('owns', { kind, handler, isOptional });
    }
    const others = new Map(kinds.filter(({ isOwned }) => !isOwned).map((each) => [formatGroupKind(each.kind), each]));
    const isWritten = new Set(
      kinds.filter(({ type, isOwned }) => type !== 'ref' && !isOwned).map(({ kind }) => formatGroupKind(kind)),
    );
    for (const [name, { kind, isOptional }] of others) {
      const handler = (): EventHandler<EventObject, R> =>
        enqueueRequestsFromMapFunc((object: EventObject) => children.wokenBy(kind, keyOf(object)) as readonly R[]);
      this.#addChildren('watches', { kind, handler, isOptional, isRef: isRef.has(name) });
      if (isWritten.has(name)) this.#declare('needs', kind, ['get', 'list', 'create', 'patch', 'delete'], {});
    }
    return this.#declare('needs', primary, ['patch'], {});
  }

  watches<K extends Kind>(
    kind: K,
    handler: Provided<EventHandler<Watched<K>, R>, D>,
    options?: InputOptions<K>,
  ): ControllerBuilder<R, D, 'fixed', F> {
    const provided = (): EventHandler<Watched<K>, R> =>
      this.#provide(handler, `the handler of watches(${describeKind(kind)})`);
    this.#inputs.push(() => eraseInput({ method: 'watches', kind, handler: provided(), options, onlyMetadata: false }));
    return this.#fixed();
  }

  watchesMetadata<K extends Kind>(
    kind: K,
    handler: Provided<EventHandler<Watched<MetadataKind<K>>, R>, D>,
    options?: InputOptions<MetadataKind<K>>,
  ): ControllerBuilder<R, D, 'fixed', F> {
    const provided = (): EventHandler<Watched<MetadataKind<K>>, R> =>
      this.#provide(handler, `the handler of watchesMetadata(${describeKind(kind)})`);
    this.#inputs.push(() =>
      eraseInput({ method: 'watchesMetadata', kind, handler: provided(), options, onlyMetadata: true }),
    );
    return this.#fixed();
  }

  watchesRawSource(source: Provided<Source<R>, D>): ControllerBuilder<R, D, 'fixed', F> {
    this.#rawSources.push(source);
    return this.#fixed();
  }

  reconcileAllOn(source: Provided<Source<unknown>, D>): this {
    this.#triggers.push(source);
    return this;
  }

  withEventFilter(...predicates: readonly Provided<Predicate, D>[]): this {
    this.#filters.push(...predicates);
    return this;
  }

  withOptions(options: BuilderOptions<R>): this {
    this.#optionProblems.push(...settingProblems(options));
    this.#options = { ...this.#options, ...withoutUndefined(options ?? {}) };
    return this;
  }

  needs(kind: Kind, verbs: readonly AccessVerb[], options: AccessOptions = {}): this {
    const isNone = Array.isArray(verbs) && verbs.length === 0;
    return this.#declare(isNone ? 'onlyNeeds' : 'needs', kind, verbs, options);
  }

  onlyNeeds(kind: Kind, verbs: readonly AccessVerb[], options: AccessOptions = {}): this {
    return this.#declare('onlyNeeds', kind, verbs, options);
  }

  withLogFields(logFields: (request: R) => LogFields): this {
    this.#logFields = logFields;
    return this;
  }

  named(name: string): this {
    this.#name = name;
    return this;
  }

  reconcile(work: ObjectReconcileFunction<F>, options: ObjectReconcileSettings<F> = {}): Controller<R> {
    const kind = this.#forKinds.find((known): known is F => isKind(known));
    if (kind === undefined) this.#optionProblems.push('reconcile() can only be used together with for()');
    if (typeof work !== 'function')
      this.#optionProblems.push('must provide a non-nil Reconciler: reconcile() takes a function');
    if (kind === undefined || typeof work !== 'function') return this.complete(() => Promise.resolve());
    const reconciler = inject({ client: true }, ({ client }: { readonly client: Client }) =>
      reconcileObject({ ...options, client, kind, fieldOwner: this.#name ?? kind.kind.toLowerCase(), reconcile: work }),
    );
    const isObject = typeof options === 'object' && options !== null;
    if (!isObject) this.#optionProblems.push(...optionProblems(options, {}).map((problem) => `reconcile: ${problem}`));
    const finalizers: unknown = isObject ? options.finalizers : undefined; // checked by reconcileObject
    this.#objectReconciler = { hasFinalizers: Array.isArray(finalizers) && finalizers.length > 0 };
    // Requests are keys of the kind of `for`; whether the manager has a client is found by `complete`.
    return this.complete(reconciler as unknown as Provided<Reconciler<R>, D>);
  }

  build(reconciler: Provided<Reconciler<R>, D>): Controller<R> {
    return this.complete(reconciler);
  }

  complete(reconciler: Provided<Reconciler<R>, D>): Controller<R> {
    const hostProblems = findHostProblems(this.#host, 'controllerManagedBy', hostParts);
    if (hostProblems.length > 0) throw new DefinitionError('controllerManagedBy(manager)', hostProblems);
    const problems = new Problems();
    const name = this.#name ?? (isKind(this.#forKinds[0]) ? this.#forKinds[0].kind.toLowerCase() : '');
    const inputs = this.#inputs.flatMap((make) => problems.collect(make) ?? []);
    const filters = this.#filters.flatMap(
      (filter) => problems.collect(() => [this.#provide(filter, 'a predicate of withEventFilter')]) ?? [],
    );
    const rawSources = this.#rawSources.flatMap(
      (source) => problems.collect(() => [this.#provide(source, 'a source of watchesRawSource')]) ?? [],
    );
    const triggers = this.#triggers.flatMap(
      (source) => problems.collect(() => [this.#provide(source, 'a source of reconcileAllOn')]) ?? [],
    );
    const provided = problems.collect(() => {
      const made = this.#provide(reconciler, 'the reconciler');
      const given: unknown = made;
      // Not to be taken for one that could not be made.
      if (isInjectable(reconciler) && (given === undefined || given === null))
        throw new TypeError('must provide a non-nil Reconciler: what inject() was given returned nothing');
      return made;
    });
    problems.texts.unshift(
      ...findProblems({
        name: this.#name,
        forKinds: this.#forKinds,
        ownedKinds: this.#ownedKinds,
        inputs,
        filters,
        rawSources: this.#rawSources.length,
        reconciler,
      }),
      ...this.#optionProblems,
    );
    for (const kind of this.#childrenOf)
      if (!this.#forKinds.some((each) => isKind(each) && isSameKind(each, kind)))
        problems.texts.push(`dependents() are those of ${describeKind(kind)}: expected those of the kind of for()`);
    const controller = problems.collect(() => this.#create(name, provided ?? (() => Promise.resolve())));
    const subject = `controller ${JSON.stringify(name)}`;
    if (controller === undefined || !problems.isEmpty) throw problems.error(subject);
    const originOf = problems.collect(() => selectChildren(this.#host, { name, inputs, children: this.#children }));
    if (originOf === undefined) throw problems.error(subject);
    for (const input of inputs)
      problems.collect(() => controller.watch(sourceOf(input, { filters, ...originOf(input) }), input.watch));
    for (const source of rawSources) problems.collect(() => controller.watch(source));
    for (const source of triggers) problems.collect(() => controller.reconcileAllOn(source));
    if (problems.isEmpty) problems.collect(() => this.#host.add(controller));
    if (!problems.isEmpty) throw problems.error(subject);
    return controller;
  }

  /** The same definition, whose requests may be any key from now on. */
  #fixed(): ControllerBuilder<R, D, 'fixed', F> {
    this.#takesAnyKey = true;
    return this as unknown as ControllerBuilder<R, D, 'fixed', F>;
  }

  #provide<T>(value: Provided<T, D>, what: string): T {
    return provide(value, this.#host.dependencies, what);
  }

  #create(name: string, reconciler: Reconciler<R>): Controller<R> {
    const { logger, metrics, tracer, clock, controllerDefaults } = this.#host;
    const { groupKindConcurrency, ...defaults } = withoutUndefined(controllerDefaults ?? {});
    const [kind] = this.#forKinds;
    const byKind = kind === undefined ? undefined : groupKindConcurrency?.[formatGroupKind(kind)];
    return createController<R>({
      ...defaults,
      ...(byKind === undefined ? {} : { maxConcurrentReconciles: byKind }),
      ...this.#options,
      name: name === '' ? 'unnamed' : name,
      accessNeeds: [...(this.#options.accessNeeds ?? []), ...this.#accessNeeds()],
      planners: [...(this.#options.planners ?? []), ...this.#planners],
      reconciler: kind !== undefined && this.#requiresNamespace ? requireNamespace(kind, reconciler) : reconciler,
      logger: kind === undefined ? logger : logger.child({ controllerGroup: kind.group, controllerKind: kind.kind }),
      logFields: this.#logFields ?? ((request) => logFieldsOf(kind, request)),
      metrics,
      tracer,
      clock,
    });
  }

  #declare(method: 'needs' | 'onlyNeeds', kind: Kind, verbs: readonly AccessVerb[], options: AccessOptions): this {
    // No verb, in place of the assumed ones. Problems of the rest are found as with any verb.
    const isNone = Array.isArray(verbs) && verbs.length === 0;
    const checked: readonly AccessVerb[] = isNone ? ['get'] : verbs;
    const problems = needProblems(kind, checked, options);
    this.#optionProblems.push(...problems.map((problem) => `${method}(${describeKind(kind)}): ${problem}`));
    if (problems.length > 0) return this;
    const need = accessTo(kind, checked, { ...this.#namespacesOf(kind), ...options });
    this.#declaredNeeds[method].push({ ...need, verbs: isNone ? [] : need.verbs });
    return this;
  }

  #accessNeeds(): readonly AccessNeed[] {
    return controllerNeeds({
      forKind: this.#forKinds[0],
      ownedKinds: this.#ownedKinds,
      declared: this.#declaredNeeds.needs,
      only: this.#declaredNeeds.onlyNeeds,
      isObjectReconciler: this.#objectReconciler !== undefined,
      hasFinalizers: this.#objectReconciler?.hasFinalizers === true,
      namespacesFor: (kind) => this.#namespacesOf(kind).namespaces,
    });
  }

  /** The namespaces that the cache is limited to, because a controller writes in the namespaces that it watches. */
  #namespacesOf(kind: Kind): { readonly namespaces?: readonly string[] } {
    const namespaces = this.#host.cache.namespacesFor?.(kind);
    return namespaces === undefined ? {} : { namespaces };
  }

  #addKeyed(
    method: 'for' | 'owns',
    kind: Kind,
    options: GivenOptions<never> | undefined,
    handler: () => EventHandler<EventObject, ObjectKey>,
  ): this {
    // The signatures of for() and owns() admit only request types that an object's key is one of.
    const keyed = (): EventHandler<never, R> => handler() as unknown as EventHandler<never, R>;
    this.#inputs.push(() => eraseInput({ method, kind, handler: keyed(), options }));
    return this;
  }

  /** An input of declared children. The start of a controller does not wait for a kind that the server may lack. */
  #addChildren(method: 'owns' | 'watches', { kind, handler, isOptional = false, isRef = false }: ChildInput<R>): void {
    const options: GivenOptions<EventObject> | undefined = isOptional ? { startPolicy: 'optional' } : undefined;
    // An informer that starts later is none of those whose rights are known.
    if (isOptional) this.#declare('needs', kind, ['list', 'watch'], {});
    const input = { method, kind, options, onlyMetadata: false, isOfChildren: !isRef };
    this.#inputs.push(() => eraseInput({ ...input, handler: handler() }));
  }
}

interface ChildInput<R> {
  readonly kind: Kind;
  readonly handler: () => EventHandler<EventObject, R>;
  readonly isOptional?: boolean | undefined;
  readonly isRef?: boolean;
}

/** Parts of a host that the builder reads before anything else. */
const hostParts: readonly string[] = ['dependencies', 'cache', 'logger', 'controllerDefaults', 'add'];

/** The log fields of controller-runtime, which are the object under its kind, and its namespace and name. */
function logFieldsOf(kind: Kind | undefined, request: unknown): LogFields {
  if (typeof request !== 'object' || request === null || !('name' in request)) return { request };
  const { name } = request;
  const namespace = 'namespace' in request ? (request.namespace ?? '') : '';
  return { [kind?.kind ?? 'object']: { name, namespace }, namespace, name };
}
