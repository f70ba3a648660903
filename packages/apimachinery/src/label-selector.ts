import { isJsonObject } from './json-object.js';
import { parseLabelRequirements } from './label-selector-parser.js';
import type { LabelRequirement } from './label-requirement.js';
import { makeRequirement, matchesRequirement, printRequirement } from './label-requirement.js';
import { requireSelectorMethods, requireSource, requireTexts, SelectorError } from './selector-error.js';
import type { LabelSelector, Selector } from './selector.js';

/** Matches every object. */
export const everything: Selector = makeSelector([]);

/**
 * Matches no object.
 *
 * It prints as a contradiction (`key,!key`), so that a server finds nothing either. In Go it prints as the empty
 * string, with which a live client returns everything.
 */
export const nothing: Selector = makeSelector([
  { key: 'kctl.dev/nothing', operator: 'exists', values: [] },
  { key: 'kctl.dev/nothing', operator: '!', values: [] },
]);

/**
 * Parses a label selector as the API server and kubectl do: `app=web,tier in (a,b),!legacy,size>3`. The empty string
 * matches everything. Mirrors `labels.Parse`.
 *
 * @throws SelectorError naming what was found and what was expected
 */
export function parseLabelSelector(text: string): Selector {
  const requirements = parseLabelRequirements(text);
  return requirements.length === 0 ? everything : makeSelector(requirements);
}

/**
 * Returns a selector for any supported form, which is a string as kubectl takes it, the API's LabelSelector object, a
 * `key → value` record, or a selector, which is returned unchanged. A LabelSelector without requirements matches
 * everything. A record whose only keys are `matchLabels` or `matchExpressions` with an object or array value is a
 * LabelSelector.
 *
 * @throws SelectorError when a key, an operator or a value is not valid
 *
 * @example
 * ```ts
 * import { labelSelectorFrom } from '@kctl/apimachinery';
 *
 * const selector = labelSelectorFrom('app=web,tier in (front, back)');
 * selector.matches({ app: 'web', tier: 'front' }); // true
 * ```
 */
export function labelSelectorFrom(
  source: Selector | LabelSelector | Readonly<Record<string, string>> | string,
): Selector {
  if (typeof source === 'string') return parseLabelSelector(source);
  requireSource('label', source);
  if (isSelector(source)) {
    requireSelectorMethods('label', source);
    return source;
  }
  const requirements = isLabelSelector(source) ? requirementsOf(source) : fromRecord(source);
  return requirements.length === 0 ? everything : makeSelector(sortByKey(requirements));
}

function isSelector(source: object): source is Selector {
  return 'matches' in source && typeof source.matches === 'function';
}

function isLabelSelector(source: object): source is LabelSelector {
  return Object.entries(source).every(
    ([key, value]) =>
      (key === 'matchLabels' || key === 'matchExpressions') && (typeof value === 'object' || value === undefined),
  );
}

function requirementsOf({ matchLabels, matchExpressions }: LabelSelector): LabelRequirement[] {
  const expressions: unknown = matchExpressions ?? [];
  if (!Array.isArray(expressions))
    throw new SelectorError('matchExpressions', 'label selector: matchExpressions is not an array');
  const labels = matchLabels ?? {};
  requireSource('label', labels);
  const given: readonly unknown[] = expressions;
  return [...fromRecord(labels), ...given.map(fromExpression)];
}

function fromRecord(labels: Readonly<Record<string, string>>): LabelRequirement[] {
  requireTexts('label', labels);
  return Object.entries(labels).map(([key, value]) => makeRequirement(key, '=', [value]));
}

const operatorsOfApi = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const;

/** @throws SelectorError if the expression, which may come from a custom resource, does not have the type */
function fromExpression(expression: unknown, place: number): LabelRequirement {
  const where = `matchExpressions[${place}]`;
  const fields: Readonly<Record<string, unknown>> = isJsonObject(expression) ? expression : {};
  const { key, operator, values } = fields;
  if (typeof key !== 'string')
    throw new SelectorError(
      where,
      `label selector: ${where} has no key: expected an object with key, operator and values`,
    );
  const own = operatorOf(operator);
  if (own === undefined)
    throw new SelectorError(
      String(operator),
      `${JSON.stringify(operator)} is not a label selector operator: expected In, NotIn, Exists or DoesNotExist`,
    );
  const texts: unknown = values ?? [];
  if (!isTexts(texts))
    throw new SelectorError(
      where,
      `label selector: the values of ${where} are not valid: expected an array of strings`,
    );
  return makeRequirement(key, own, texts);
}

function operatorOf(operator: unknown): LabelRequirement['operator'] | undefined {
  const operators: Readonly<Record<string, LabelRequirement['operator']>> = operatorsOfApi;
  return typeof operator === 'string' && Object.hasOwn(operators, operator) ? operators[operator] : undefined;
}

function isTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function sortByKey(requirements: readonly LabelRequirement[]): LabelRequirement[] {
  return [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function makeSelector(requirements: readonly LabelRequirement[]): Selector {
  const text = requirements.map(printRequirement).join(',');
  return {
    type: 'label',
    isEmpty: requirements.length === 0,
    // JSON may have null for an absent value.
    matches: (labels) => requirements.every((requirement) => matchesRequirement(requirement, labels ?? {})),
    toString: () => text,
  };
}
