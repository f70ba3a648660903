import type { Kind, ObjectOf } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Provided } from '@kctl/controller/internal';
import { provide } from '@kctl/controller';
import type { ConverterRegistry, ManagerDependencies } from '@kctl/manager';
import type { Logger } from '@kctl/telemetry';
import type {
  AdmissionFilter,
  Converter,
  Defaulter,
  MutationRule,
  TypedWebhookOptions,
  ValidationRule,
  Validator,
  WebhookHandler,
  WebhookRegistration,
  WebhookServer,
} from '@kctl/webhook';
import { conversionWebhook, defaultingWebhook, mutationRule, validatingWebhook, validationRule } from '@kctl/webhook';
import { isKindConverter, registrationProblem, uncoveredVersions } from '@kctl/webhook/internal';
import type { OptionNames } from '@kctl/options';
import { requireOptions, shownValue } from '@kctl/options';
import { DefinitionError } from './errors.js';
import { findHostProblems } from './host.js';
import { describeKind, isKind } from './input.js';
import { Problems } from './problems.js';

/** Paths that a webhook may have. As upstream. */
const validPath = /^((\/[a-zA-Z0-9-_]+)+|\/)$/;
const conversionPath = '/convert';

/** The parts of a manager that the builder needs; the manager of @kctl/manager has them. */
export interface WebhookHost<D extends object = object> {
  readonly webhookServer: WebhookServer;
  readonly converters: ConverterRegistry;
  readonly logger: Logger;
  readonly dependencies: D;
}

/** How the API server is to call a webhook, and how its requests are logged. */
export type WebhookOptions = WebhookRegistration & Pick<TypedWebhookOptions, 'logConstructor'>;

/**
 * Which requests a rule sees, and how the API server is to call it. `namespaces` stand for `namespaceSelector`, `labels`
 * for `objectSelector`, `on` for `operations`.
 */
export type RuleFilter = AdmissionFilter & Omit<WebhookOptions, 'operations'>;

const optionNames: OptionNames<WebhookOptions> = {
  name: true,
  failurePolicy: true,
  matchPolicy: true,
  timeoutSeconds: true,
  sideEffects: true,
  reinvocationPolicy: true,
  namespaceSelector: true,
  objectSelector: true,
  matchConditions: true,
  operations: true,
  subResources: true,
  confirm: true,
  logConstructor: true,
};

const { operations: _operations, ...ruleOptionNames } = optionNames;
const ruleNames: OptionNames<RuleFilter> = { ...ruleOptionNames, on: true, namespaces: true, labels: true };

/** Defines the webhooks of a kind. Nothing happens before {@link complete}. Mirrors `builder.WebhookBuilder`. */
export interface WebhookBuilder<K extends Kind, D extends object = ManagerDependencies> {
  /** Behind `/mutate-<group, dots as dashes>-<version>-<kind>`. Several are joined by `chainDefaulters`. */
  withDefaulter(defaulter: Provided<Defaulter<ObjectOf<K>>, D>, options?: WebhookOptions): WebhookBuilder<K, D>;
  /** Behind `/validate-<group, dots as dashes>-<version>-<kind>`. Several are joined by `chainValidators`. */
  withValidator(validator: Provided<Validator<ObjectOf<K>>, D>, options?: WebhookOptions): WebhookBuilder<K, D>;
  /**
   * A rule that filters itself. It receives the operations, namespaces and objects that its filter chooses, and the
   * filter becomes rules and selectors of the webhook configuration. May be given several times; each is a separate
   * webhook, behind the path of {@link withValidator} with a number, `/validate-…/1`.
   */
  validate(filter: RuleFilter, rule: ValidationRule<ObjectOf<K>>): WebhookBuilder<K, D>;
  /** A rule for every create and update. */
  validate(rule: ValidationRule<ObjectOf<K>>): WebhookBuilder<K, D>;
  /** As {@link validate}, for a rule that changes the object; behind `/mutate-…/1`. */
  mutate(filter: RuleFilter, rule: MutationRule<ObjectOf<K>>): WebhookBuilder<K, D>;
  mutate(rule: MutationRule<ObjectOf<K>>): WebhookBuilder<K, D>;
  /** Behind `/convert`, which all kinds of the manager share. */
  withConverter(converter: Provided<Converter, D>): WebhookBuilder<K, D>;
  withDefaulterCustomPath(path: string): WebhookBuilder<K, D>;
  withValidatorCustomPath(path: string): WebhookBuilder<K, D>;
  /**
   * Registers the webhooks and returns their paths. Logs a warning for each that `webhookConfigurations` refuses, such as
   * one that fails closed on a kind of Kubernetes itself without a selector. Upstream skips a path that has a handler already; here it is a
   * mistake, because what is skipped validates nothing. Only `/convert` is shared.
   *
   * @throws DefinitionError naming every mistake; nothing is registered then
   */
  complete(): readonly string[];
}

/** Waits for the kind. */
export interface WebhookBuilderStart<D extends object = ManagerDependencies> {
  /** The kind, in one version. Other versions and kinds have separate definitions, with the same manager. */
  for<K extends Kind>(kind: K): WebhookBuilder<K, D>;
}

/**
 * Begins the definition of the webhooks of a kind: `webhookManagedBy(manager).for(Kind)`, or in one call
 * `webhookManagedBy(manager, Kind)`. Mirrors `WebhookManagedBy`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { webhookManagedBy } from '@kctl/builder';
 *
 * webhookManagedBy(manager)
 *   .for(ConfigMap)
 *   .withDefaulter((draft) => (draft.data ??= { colour: 'blue' }))
 *   .withValidator({ validateCreate: ({ data }) => (data?.['colour'] === '' ? ['the colour is empty'] : undefined) })
 *   .complete();
 * ```
 */
export function webhookManagedBy<D extends object = ManagerDependencies>(host: WebhookHost<D>): WebhookBuilderStart<D>;
export function webhookManagedBy<K extends Kind, D extends object = ManagerDependencies>(
  host: WebhookHost<D>,
  kind: K,
): WebhookBuilder<K, D>;
export function webhookManagedBy<K extends Kind, D extends object = ManagerDependencies>(
  ...[host, kind]: [WebhookHost<D>] | [WebhookHost<D>, K]
): WebhookBuilder<K, D> | WebhookBuilderStart<D> {
  // By the presence of the argument, not by its value, because a kind that was imported under a wrong name is
  // undefined.
  const define = <T extends Kind>(of: T | undefined): WebhookBuilder<T, D> => new WebhookDefinition<T, D>(host, of);
  return kind === undefined ? Object.assign(define<K>(undefined), { for: define }) : define(kind);
}

/** A rule as it was given. */
interface GivenRule {
  readonly method: 'validate' | 'mutate';
  readonly filter: RuleFilter;
  readonly rule: unknown;
  readonly create: (filter: AdmissionFilter, options: TypedWebhookOptions) => WebhookHandler;
}

interface Given<T, D extends object> {
  readonly value: Provided<T, D>;
  readonly options: WebhookOptions;
}

class WebhookDefinition<K extends Kind, D extends object> implements WebhookBuilder<K, D> {
  readonly #host: WebhookHost<D>;
  readonly #kind: K | undefined;
  #defaulter: Given<Defaulter<ObjectOf<K>>, D> | undefined;
  #validator: Given<Validator<ObjectOf<K>>, D> | undefined;
  #converter: Given<Converter, D> | undefined;
  #defaulterPath: string | undefined;
  #validatorPath: string | undefined;
  /** Methods that were called a second time. The first call would silently have no effect. */
  readonly #repeated = new Set<string>();
  readonly #rules: GivenRule[] = [];
  #isComplete = false;

  constructor(host: WebhookHost<D>, kind: K | undefined) {
    this.#host = host;
    this.#kind = kind;
  }

  withDefaulter(value: Provided<Defaulter<ObjectOf<K>>, D>, options: WebhookOptions = {}): this {
    if (this.#defaulter !== undefined)
      this.#repeated.add('withDefaulter() is given twice: join them with chainDefaulters');
    this.#defaulter = { value, options };
    return this;
  }

  withValidator(value: Provided<Validator<ObjectOf<K>>, D>, options: WebhookOptions = {}): this {
    if (this.#validator !== undefined)
      this.#repeated.add('withValidator() is given twice: join them with chainValidators');
    this.#validator = { value, options };
    return this;
  }

  validate(...given: RuleArguments<ValidationRule<ObjectOf<K>>>): this {
    return this.#addRule(
      'validate',
      given,
      (kind, rule) => (filter, options) => validationRule(kind, filter, rule, options),
    );
  }

  mutate(...given: RuleArguments<MutationRule<ObjectOf<K>>>): this {
    return this.#addRule(
      'mutate',
      given,
      (kind, rule) => (filter, options) => mutationRule(kind, filter, rule, options),
    );
  }

  #addRule<R>(
    method: GivenRule['method'],
    given: RuleArguments<R>,
    create: (kind: K, rule: R) => GivenRule['create'],
  ): this {
    const [filter, rule] = given.length === 1 ? [{}, given[0]] : given;
    const kind = this.#kind;
    // Without a kind complete() refuses it all.
    if (kind !== undefined) this.#rules.push({ method, filter, rule, create: create(kind, rule) });
    return this;
  }

  withConverter(value: Provided<Converter, D>): this {
    if (this.#converter !== undefined)
      this.#repeated.add('withConverter() is given twice: join them with hubSpokeConverter');
    this.#converter = { value, options: {} };
    return this;
  }

  withDefaulterCustomPath(path: string): this {
    this.#expectOnePath('withDefaulterCustomPath', this.#defaulterPath, path);
    this.#defaulterPath = path;
    return this;
  }

  withValidatorCustomPath(path: string): this {
    this.#expectOnePath('withValidatorCustomPath', this.#validatorPath, path);
    this.#validatorPath = path;
    return this;
  }

  #expectOnePath(method: string, before: string | undefined, path: string): void {
    if (before !== undefined && before !== path)
      this.#repeated.add(
        `${method}() is given twice, with ${shownValue(before)} and ${shownValue(path)}: give it once`,
      );
  }

  complete(): readonly string[] {
    const kind = this.#kind;
    // Not the webhook server, because accessing it has the manager run it.
    const invalid = findHostProblems(this.#host, 'webhookManagedBy', ['dependencies', 'converters', 'logger']);
    const notAKind = 'webhookManagedBy(manager).for(kind): that is not a kind: is its import right?';
    if (!isKind(kind)) throw new DefinitionError(`webhooks of ${describeKind(kind)}`, [...invalid, notAKind]);
    if (invalid.length > 0) throw new DefinitionError(`webhooks of ${describeKind(kind)}`, invalid);
    const problems = new Problems(this.#findProblems());
    const fail = (): never => {
      throw problems.error(`webhooks of ${formatGroupKind(kind)}`);
    };
    const step = <T>(run: () => T): T | undefined => problems.collect(run);
    const defaulter = step(() => this.#provide(this.#defaulter, 'the defaulter'));
    const validator = step(() => this.#provide(this.#validator, 'the validator'));
    const converter = step(() => this.#provide(this.#converter, 'the converter'));
    const server = step(() => this.#host.webhookServer);
    const handlers = new Map<string, WebhookHandler>();
    const plan = (path: string, create: () => WebhookHandler): void => {
      if (server?.has(path) === true || handlers.has(path))
        problems.texts.push(
          `path ${path} has a handler already: join validators with chainValidators, or give a custom path`,
        );
      const handler = step(create);
      if (handler !== undefined) handlers.set(path, handler);
    };
    if (defaulter !== undefined)
      plan(this.#defaulterPath ?? pathOf('mutate', kind), () =>
        defaultingWebhook(kind, defaulter, webhookOptions('withDefaulter', this.#defaulter?.options)),
      );
    if (validator !== undefined)
      plan(this.#validatorPath ?? pathOf('validate', kind), () =>
        validatingWebhook(kind, validator, webhookOptions('withValidator', this.#validator?.options)),
      );
    this.#rules.forEach(({ method, filter, rule, create }, index) => {
      const number = this.#rules.slice(0, index + 1).filter((other) => other.method === method).length;
      const what = `${method}() number ${number}`;
      if (typeof rule !== 'function')
        problems.texts.push(`${what}: the rule is not a function: expected ${method}(filter, (object) => …)`);
      else
        plan(`${pathOf(method, kind)}/${number}`, () => {
          requireOptions(what, filter, ruleNames);
          const { on, namespaces, labels, ...options } = filter;
          const { registration = {}, ...rest } = webhookOptions(what, options);
          const name = registration.name ?? ruleName(method, kind, number);
          const own: AdmissionFilter = {
            ...(on === undefined ? {} : { on }),
            ...(namespaces === undefined ? {} : { namespaces }),
            ...(labels === undefined ? {} : { labels }),
          };
          return create(own, { ...rest, registration: { ...registration, name } });
        });
    });
    if (converter !== undefined) {
      step(() => requireConverterOf(kind, converter));
      const { convert } = this.#host.converters;
      const clash = server === undefined ? undefined : conversionClash(server, convert);
      if (handlers.has(conversionPath)) problems.texts.push(noConversion);
      else if (clash !== undefined) problems.texts.push(clash);
    }
    if (server === undefined || !problems.isEmpty) return fail();
    if (converter !== undefined) step(() => this.#host.converters.register(kind, converter));
    if (!problems.isEmpty) return fail();
    this.#isComplete = true;
    const { convert } = this.#host.converters;
    for (const [path, handler] of handlers) {
      server.register(path, handler);
      this.#warnOfRefusal(path, handler);
    }
    if (converter !== undefined && !server.has(conversionPath))
      server.register(conversionPath, conversionWebhook(convert));
    return [...handlers.keys(), ...(converter === undefined ? [] : [conversionPath])];
  }

  /** The API server may know the webhook from a manifest of the user, so the webhook is served as it is. */
  #warnOfRefusal(path: string, { target }: WebhookHandler): void {
    const problem = target === undefined ? undefined : registrationProblem(target);
    if (problem === undefined) return;
    this.#host.logger.warn('webhookConfigurations refuses this webhook', { path, problem });
  }

  #findProblems(): string[] {
    const problems: string[] = [...this.#repeated];
    if (this.#isComplete) problems.push('complete() was called already');
    const given = [this.#defaulter, this.#validator, this.#converter];
    if (given.every((one) => one === undefined) && this.#rules.length === 0)
      problems.push(
        'there is nothing to serve: use validate(), mutate(), withDefaulter(), withValidator() or withConverter()',
      );
    const paths = [
      { option: 'withDefaulterCustomPath', path: this.#defaulterPath, needs: this.#defaulter, what: 'withDefaulter()' },
      { option: 'withValidatorCustomPath', path: this.#validatorPath, needs: this.#validator, what: 'withValidator()' },
    ];
    for (const { option, path, needs, what } of paths) {
      if (path === undefined) continue;
      if (needs === undefined) problems.push(`${option} needs ${what}`);
      if (!validPath.test(path))
        problems.push(`${option}: ${JSON.stringify(path)} is not a valid path: it has to match ${validPath.source}`);
    }
    return problems;
  }

  #provide<T>(given: Given<T, D> | undefined, what: string): T | undefined {
    if (given === undefined) return undefined;
    const made = provide(given.value, this.#host.dependencies, what);
    const value: unknown = made;
    if (value === undefined || value === null)
      throw new TypeError(`${what} is ${String(value)}: nothing would be served: is its import right?`);
    return made;
  }
}

const noConversion = `path ${conversionPath} has a handler that does not convert: give that a custom path, this one is for converters`;

/**
 * Why the handler at the conversion path would not call a converter of the manager, which would then convert no object.
 */
function conversionClash(server: WebhookServer, convert: Converter): string | undefined {
  const { webhooks } = server;
  if (webhooks === undefined || !server.has(conversionPath)) return undefined;
  const handler = webhooks.get(conversionPath);
  if (handler?.type !== 'conversion') return noConversion;
  if (handler.converter === undefined || handler.converter === convert) return undefined;
  return `path ${conversionPath} has a conversion webhook with a converter of its own, which would not ask this one: give it conversionWebhook(manager.converters.convert)`;
}

function pathOf(verb: 'mutate' | 'validate', { group, version, kind }: Kind): string {
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`;
}

type RuleArguments<R> = [RuleFilter, R] | [R];

/** As webhooks of the kind are named, with the number of the rule. */
function ruleName(method: GivenRule['method'], { group, version, kind }: Kind, number: number): string {
  const domain = group === '' ? 'core.k8s.io' : group.includes('.') ? group : `${group}.k8s.io`;
  return `${method === 'mutate' ? 'm' : 'v'}${kind.toLowerCase()}-${number}.${version}.${domain}`;
}

/** @throws TypeError naming every option that is not known */
function webhookOptions(method: string, options: WebhookOptions = {}): TypedWebhookOptions {
  requireOptions(method, options, optionNames);
  const { logConstructor, ...registration } = options;
  return { registration, ...(logConstructor === undefined ? {} : { logConstructor }) };
}

/** A converter that declares its kind has to convert this one. */
function requireConverterOf(kind: Kind, converter: Converter): void {
  if (!isKindConverter(converter)) return;
  if (converter.group !== kind.group || converter.kind !== kind.kind)
    throw new Error(`the converter is of ${formatGroupKind(converter)}`);
  const uncovered = uncoveredVersions(converter, [kind.version]);
  if (uncovered !== undefined) throw new Error(uncovered);
}
