import { labelSelectorFrom, nameFilter } from '@kctl/apimachinery';
import type { Kind, LabelSelector, LabelSelectorRequirement, NameFilter } from '@kctl/apimachinery';
import type { MatchCondition } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { messageOf } from '@kctl/telemetry/internal';
import { isInNamespaces, nameLabel, type WebhookRegistration } from '../handler/registration.js';
import { WebhookServerError } from '../errors.js';
import type { AdmissionRequest, Operation } from '../handler/review.js';

/** Operations that a rule may receive. */
export type RuleOperation = 'create' | 'update' | 'delete';

/**
 * The requests that a rule receives. The webhook configuration states them for the server, and each request is checked
 * again.
 */
export interface AdmissionFilter {
  /** @default ['create', 'update'] */
  readonly on?: readonly RuleOperation[];
  /** Namespaces, as names and patterns such as `team-*` and `!kube-*`, see `nameFilter`. @default all */
  readonly namespaces?: readonly string[];
  /**
   * Labels that the object has, or had before an update. Each is a value, one of several, `'*'` for any, or `null` for
   * an absent label.
   *
   * @default any
   */
  readonly labels?: Readonly<Record<string, string | readonly string[] | null>>;
}

/** A filter as the API server applies it, and as a handler does. */
export interface CompiledFilter {
  readonly operations: readonly Operation[];
  /** For the registration. */
  readonly registration: Pick<
    WebhookRegistration,
    'operations' | 'namespaceSelector' | 'objectSelector' | 'matchConditions'
  >;
  matches(request: AdmissionRequest): boolean;
}

const operationOf = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE' } as const satisfies Record<
  RuleOperation,
  Operation
>;

/** @throws WebhookServerError naming every field that is not valid, or is given twice */
export function compileFilter(kind: Kind, filter: AdmissionFilter, registration: WebhookRegistration): CompiledFilter {
  const problems: string[] = [];
  const step = <T>(field: string, run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      problems.push(`${field}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const { on = ['create', 'update'], namespaces, labels } = filter;
  const operations = step('on', () => operationsOf(on)) ?? [];
  const names = namespaces === undefined ? undefined : step('namespaces', () => nameFilter(namespaces));
  const objectSelector = labels === undefined ? undefined : step('labels', () => selectorOf(labels));
  if (namespaces !== undefined && !isInNamespaces(kind))
    problems.push(`namespaces: ${kind.kind} is not namespaced: leave them out`);
  if (names?.names?.length === 0) problems.push('namespaces: the patterns choose no namespace');
  if (namespaces !== undefined && registration.namespaceSelector !== undefined)
    problems.push('give namespaces or namespaceSelector, not both');
  if (labels !== undefined && registration.objectSelector !== undefined)
    problems.push('give labels or objectSelector, not both');
  if (registration.operations !== undefined) problems.push('give on, not operations');
  if (problems.length > 0)
    throw new WebhookServerError(`rule for ${kind.kind} ${kind.apiVersion}: ${problems.join('; ')}`);
  const selector = objectSelector === undefined ? undefined : labelSelectorFrom(objectSelector);
  const hasLabels = (object: AdmissionRequest['object']): boolean =>
    object !== undefined && object !== null && selector?.matches(object.metadata?.labels) === true;
  return {
    operations,
    registration: {
      ...registration,
      operations,
      ...namespaceParts(names, registration),
      ...(objectSelector && { objectSelector }),
    },
    matches: ({ operation, namespace = '', name = '', object, oldObject }) =>
      operations.includes(operation) &&
      // The namespace of a Namespace is its own name.
      names?.matches(namespace === '' ? name : namespace) !== false &&
      // As the API server evaluates an objectSelector, that is, by either version.
      (selector === undefined || hasLabels(object) || hasLabels(oldObject)),
  };
}

function operationsOf(on: readonly unknown[]): Operation[] {
  if (!Array.isArray(on) || on.length === 0) throw new TypeError('expected a list of "create", "update" or "delete"');
  return [...new Set(on)].map((operation) => {
    if (typeof operation === 'string' && operation in operationOf) return operationOf[operation as RuleOperation];
    throw new TypeError(`${JSON.stringify(operation)} is not valid: expected "create", "update" or "delete"`);
  });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function selectorOf(labels: NonNullable<AdmissionFilter['labels']>): LabelSelector {
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels))
    throw new TypeError('expected an object of labels and their values, such as { team: "a" }');
  const matchLabels: [string, string][] = [];
  const matchExpressions: LabelSelectorRequirement[] = [];
  for (const [key, value] of Object.entries(labels)) {
    if (value === '*') matchExpressions.push({ key, operator: 'Exists' });
    else if (value === null) matchExpressions.push({ key, operator: 'DoesNotExist' });
    else if (typeof value === 'string') matchLabels.push([key, value]);
    else if (isTexts(value)) matchExpressions.push({ key, operator: 'In', values: [...value] });
    else throw new TypeError(`${key}: expected a string, a list of strings, "*" or null`);
  }
  const selector = {
    ...(matchLabels.length === 0 ? {} : { matchLabels: Object.fromEntries(matchLabels) }),
    ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
  };
  labelSelectorFrom(selector); // says what is wrong with it
  return selector;
}

/**
 * Names become a selector by the label that every namespace has; wildcards, which a selector cannot express, become a
 * condition.
 */
function namespaceParts(
  filter: NameFilter | undefined,
  { matchConditions = [] }: WebhookRegistration,
): Pick<WebhookRegistration, 'namespaceSelector' | 'matchConditions'> {
  if (filter === undefined) return {};
  const { names, patterns } = filter;
  if (names !== undefined) return { namespaceSelector: selectNames('In', names) };
  if (patterns.every(({ isExact, isExcluded }) => isExact && isExcluded))
    return { namespaceSelector: selectNames('NotIn', [...new Set(patterns.map(({ text }) => text))]) };
  return { matchConditions: [...matchConditions, namespaceCondition(filter)] };
}

function selectNames(operator: 'In' | 'NotIn', values: readonly string[]): LabelSelector {
  return { matchExpressions: [{ key: nameLabel, operator, values: [...values] }] };
}

function namespaceCondition({ patterns }: NameFilter): MatchCondition {
  const variable = '(has(request.namespace) && request.namespace != "" ? request.namespace : request.name)';
  let expression = String(patterns[0]?.isExcluded === true);
  for (const { regularExpression, isExcluded } of patterns) {
    const matched = `${variable}.matches(${JSON.stringify(regularExpression)})`;
    expression = isExcluded ? `(${expression} && !${matched})` : `(${expression} || ${matched})`;
  }
  return { name: 'namespaces', expression };
}
