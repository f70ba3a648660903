import type { Kind, ObjectOf } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery';
import type { Provided } from '@kctl/controller';
import { provide } from '@kctl/controller';
import type { ConverterRegistry, ManagerDependencies } from '@kctl/manager';
import type { Logger } from '@kctl/telemetry';
import type { Converter, Defaulter, Validator, WebhookHandler, WebhookServer } from '@kctl/webhook';
import { conversionWebhook, defaultingWebhook, validatingWebhook } from '@kctl/webhook';
import { collect } from './collect.js';
import { DefinitionError } from './errors.js';
import { findHostProblems } from './host.js';
import { describeKind, isKind } from './input.js';

/** Paths that a webhook may have. As upstream. */
const validPath = /^((\/[a-zA-Z0-9-_]+)+|\/)$/;
const conversionPath = '/convert';

/** What the builder needs of a manager; that of @kctl/manager is one. */
export interface WebhookHost<D extends object = object> {
  readonly webhookServer: WebhookServer;
  readonly converters: ConverterRegistry;
  readonly logger: Logger;
  readonly dependencies: D;
}

/** Defines the webhooks of a kind. Nothing happens before {@link complete}. Mirrors `builder.WebhookBuilder`. */
export interface WebhookBuilder<K extends Kind, D extends object = ManagerDependencies> {
  /** Behind `/mutate-<group, dots as dashes>-<version>-<kind>`. */
  withDefaulter(defaulter: Provided<Defaulter<ObjectOf<K>>, D>): WebhookBuilder<K, D>;
  /** Behind `/validate-<group, dots as dashes>-<version>-<kind>`. */
  withValidator(validator: Provided<Validator<ObjectOf<K>>, D>): WebhookBuilder<K, D>;
  /** Behind `/convert`, which all kinds of the manager share. */
  withConverter(converter: Provided<Converter, D>): WebhookBuilder<K, D>;
  withDefaulterCustomPath(path: string): WebhookBuilder<K, D>;
  withValidatorCustomPath(path: string): WebhookBuilder<K, D>;
  /**
   * Registers the webhooks and returns their paths. A path that has a handler already is left alone and logged, as
   * upstream.
   *
   * @throws DefinitionError naming every mistake; nothing is registered then
   */
  complete(): readonly string[];
}

/** Begins the definition of the webhooks of a kind. Mirrors `WebhookManagedBy`. */
export function webhookManagedBy<K extends Kind, D extends object = ManagerDependencies>(
  host: WebhookHost<D>,
  kind: K,
): WebhookBuilder<K, D> {
  return new WebhookDefinition(host, kind);
}

class WebhookDefinition<K extends Kind, D extends object> implements WebhookBuilder<K, D> {
  readonly #host: WebhookHost<D>;
  readonly #kind: K;
  #defaulter: Provided<Defaulter<ObjectOf<K>>, D> | undefined;
  #validator: Provided<Validator<ObjectOf<K>>, D> | undefined;
  #converter: Provided<Converter, D> | undefined;
  #defaulterPath: string | undefined;
  #validatorPath: string | undefined;

  constructor(host: WebhookHost<D>, kind: K) {
    this.#host = host;
    this.#kind = kind;
  }

  withDefaulter(defaulter: Provided<Defaulter<ObjectOf<K>>, D>): this {
    this.#defaulter = defaulter;
    return this;
  }

  withValidator(validator: Provided<Validator<ObjectOf<K>>, D>): this {
    this.#validator = validator;
    return this;
  }

  withConverter(converter: Provided<Converter, D>): this {
    this.#converter = converter;
    return this;
  }

  withDefaulterCustomPath(path: string): this {
    this.#defaulterPath = path;
    return this;
  }

  withValidatorCustomPath(path: string): this {
    this.#validatorPath = path;
    return this;
  }

  complete(): readonly string[] {
    // Not the webhook server: asking for it has the manager run it.
    const invalid = findHostProblems(this.#host, 'webhookManagedBy', ['dependencies', 'converters', 'logger']);
    if (!isKind(this.#kind)) invalid.push('webhookManagedBy(manager, kind): that is not a kind: is its import right?');
    if (invalid.length > 0) throw new DefinitionError(`webhooks of ${describeKind(this.#kind)}`, invalid);
    const problems = this.#findProblems();
    const step = <T>(run: () => T): T | undefined => collect(problems, run);
    const defaulter = step(() => this.#provide(this.#defaulter, 'the defaulter'));
    const validator = step(() => this.#provide(this.#validator, 'the validator'));
    const converter = step(() => this.#provide(this.#converter, 'the converter'));
    const server = step(() => this.#host.webhookServer);
    const fail = (): never => {
      throw new DefinitionError(`webhooks of ${formatGroupKind(this.#kind)}`, problems);
    };
    if (server === undefined || problems.length > 0) return fail();
    if (converter !== undefined) step(() => this.#host.converters.register(this.#kind, converter));
    if (problems.length > 0) return fail();
    const paths: string[] = [];
    const register = (path: string, handler: WebhookHandler): void => {
      paths.push(path);
      if (!server.has(path)) server.register(path, handler);
      else if (path !== conversionPath) this.#host.logger.info('webhook path already registered, skipping', { path });
    };
    if (defaulter !== undefined)
      register(this.#defaulterPath ?? this.#path('mutate'), defaultingWebhook(this.#kind, defaulter));
    if (validator !== undefined)
      register(this.#validatorPath ?? this.#path('validate'), validatingWebhook(this.#kind, validator));
    if (converter !== undefined) register(conversionPath, conversionWebhook(this.#host.converters.convert));
    return paths;
  }

  #findProblems(): string[] {
    const problems: string[] = [];
    if (this.#defaulter === undefined && this.#validator === undefined && this.#converter === undefined)
      problems.push('there is nothing to serve: use withDefaulter(), withValidator() or withConverter()');
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

  #provide<T>(value: Provided<T, D> | undefined, what: string): T | undefined {
    return value === undefined ? undefined : provide(value, this.#host.dependencies, what);
  }

  #path(verb: 'mutate' | 'validate'): string {
    const { group, version, kind } = this.#kind;
    return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`;
  }
}
