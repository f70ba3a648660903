import { fieldSelectorFrom, labelSelectorFrom } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { reflectorConfigProblems, storageOption } from '@kctl/informer/internal';
import {
  booleanOption,
  clockOption,
  functionOption,
  listOption,
  numberOption,
  numberProblem,
  objectOption,
  oneOfOption,
  optionProblems,
  requireOptions,
  shownValue,
} from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type {
  CacheOptions,
  KindOptions,
  NamespaceScopes,
  ScopeOptions,
  SelectedInformerOptions,
} from '../cache-options.js';
import { loggerOption, messageOf, metricsOption } from '@kctl/telemetry/internal';

/** The options of each object, complete by type, so that none can be forgotten here. */
const cacheNames: OptionNames<CacheOptions> = {
  name: true,
  client: true,
  byObject: listOption('a list of options, each with its kind', objectOption('options with their kind')),
  defaultNamespaces: objectOption('scopes by namespace, such as { shop: {} }'),
  defaults: true,
  undeclaredReads: oneOfOption('error', 'start'),
  lingerMs: true,
  watchErrorHandler: functionOption,
  listerWatcherFor: functionOption,
  watchList: booleanOption,
  minWatchTimeoutMs: numberOption({ least: 1000 }),
  idleTimeoutMs: numberOption({ least: 1 }),
  listIdleTimeoutMs: numberOption({ least: 1 }),
  backoff: true,
  maxInternalErrorRetryMs: true,
  handlerMetrics: booleanOption,
  clock: clockOption,
  random: functionOption,
  logger: loggerOption,
  metrics: metricsOption,
};
const scopeNames: OptionNames<ScopeOptions> = {
  labelSelector: true,
  fieldSelector: true,
  transform: (name: string, value: unknown) => (value === null ? undefined : functionOption(name, value)),
  unsafeMutableObjects: booleanOption,
  bookmarks: booleanOption,
  resyncMs: numberOption(),
  keepManagedFields: booleanOption,
  storage: storageOption,
};
const selectedNames: OptionNames<SelectedInformerOptions> = (({ transform: _, ...names }) => ({
  ...names,
  name: true,
  isWanted: booleanOption,
  namespaces: objectOption('scopes by namespace, such as { shop: {} }'),
}))(scopeNames);
const kindNames: OptionNames<KindOptions> = {
  ...scopeNames,
  kind: true,
  namespaces: objectOption('scopes by namespace, such as { shop: {} }'),
};

/** @throws TypeError naming the option, its value and what is expected */
export function requireCacheOptions(options: CacheOptions): void {
  requireOptions('createCache', options, cacheNames);
  const { client, byObject = [], lingerMs, listerWatcherFor, defaults, defaultNamespaces } = options;
  const { name, backoff, maxInternalErrorRetryMs } = options;
  if (listerWatcherFor === undefined && !isClient(client))
    throw new TypeError(
      `createCache: client ${shownValue(client)} is not valid: expected a client, such as createHttpClient(…) of @kctl/client-http`,
    );
  for (const [index, { kind }] of byObject.entries()) requireKind(`createCache: byObject[${index}].kind`, kind);
  // A selector under a name that is not known would cache the whole kind.
  const problems = [
    ...scopeProblems(defaults, 'defaults'),
    ...namespaceProblems(defaultNamespaces, 'defaultNamespaces'),
    ...byObject.flatMap((options, index) => [
      ...scopeProblems(options, `byObject[${index}]`, kindNames),
      ...namespaceProblems(options.namespaces, `byObject[${index}].namespaces`),
    ]),
    lingerMs === undefined ? undefined : numberProblem('lingerMs', lingerMs),
    name === undefined || (typeof name === 'string' && name !== '')
      ? undefined
      : `name ${shownValue(name)} is not valid: expected a string such as "west"`,
    ...reflectorConfigProblems({
      ...(backoff === undefined ? {} : { backoff }),
      ...(maxInternalErrorRetryMs === undefined ? {} : { maxInternalErrorRetryMs }),
    }),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`createCache: ${problems.join('; ')}`);
}

/** @throws TypeError naming every option of a selected informer that is not valid */
export function requireSelection(options: SelectedInformerOptions): void {
  requireOptions('selectedInformer', options, selectedNames);
  const problems = [...selectorProblems(options, ''), ...namespaceProblems(options.namespaces, 'namespaces')];
  const { name }: { readonly name: unknown } = options;
  if (typeof name !== 'string' || name === '')
    problems.push(
      `name ${shownValue(name)} is not valid: expected a string that distinguishes it from others of its kind`,
    );
  if (problems.length > 0) throw new TypeError(`selectedInformer: ${problems.join('; ')}`);
}

/** @throws TypeError naming every option of a namespace that is not known */
export function requireNamespaces(what: string, namespaces: NamespaceScopes): void {
  const given: unknown = namespaces;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(
      `${what}: namespaces ${shownValue(given)} is not valid: expected an object, such as { shop: {} }`,
    );
  const problems = namespaceProblems(namespaces, 'namespaces');
  if (problems.length > 0) throw new TypeError(`${what}: ${problems.join('; ')}`);
}

function namespaceProblems(namespaces: NamespaceScopes | undefined, field: string): string[] {
  const scopes = Object.entries(namespaces ?? {});
  return scopes.flatMap(([name, scope]) => scopeProblems(scope, `${field}.${name}`));
}

/**
 * A sentence for each option of a scope that is unknown or not valid, because an ignored option would widen the scope.
 */
export function scopeProblems(
  scope: ScopeOptions | undefined,
  field: string,
  names: Readonly<Record<string, unknown>> = scopeNames,
): string[] {
  const problems = optionProblems(scope, names, field);
  return problems.length > 0 || scope === undefined ? problems : selectorProblems(scope, `${field}.`);
}

function selectorProblems({ labelSelector, fieldSelector }: ScopeOptions, prefix: string): string[] {
  return [
    labelSelector === undefined
      ? undefined
      : problemOf(`${prefix}labelSelector`, () => labelSelectorFrom(labelSelector)),
    fieldSelector === undefined
      ? undefined
      : problemOf(`${prefix}fieldSelector`, () => fieldSelectorFrom(fieldSelector)),
  ].filter((problem) => problem !== undefined);
}

function problemOf(field: string, parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return `${field}: ${messageOf(error)}`;
  }
}

/** @throws TypeError when it is not a kind */
export function requireKind(field: string, kind: unknown): void {
  if (
    isJsonObject(kind) &&
    ['plural', 'scope', 'kind', 'apiVersion'].every((member) => typeof kind[member] === 'string')
  )
    return;
  throw new TypeError(
    `${field} ${shownValue(kind)} is not valid: expected a kind, such as Pod of @kctl/apimachinery/kinds/core/v1 or one of defineKind(…)`,
  );
}

function isClient(client: unknown): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return ['get', 'list', 'watch', 'listFrames', 'watchFrames'].some(
    (method) => typeof Reflect.get(client, method) === 'function',
  );
}
