import {
  arrayOf,
  at,
  compareText,
  forbidden,
  invalidValue,
  isObject,
  labelKey,
  objectsOf,
  required,
  stringMapOf,
  stringOf,
  stringsOf,
  validLabelValue,
  type FieldError,
} from '@kctl/crd/internal/engine';

/** A label selector of an object (or a plain map of labels) as a string, e.g. `a=b,c in (d,e)`. */
export function formatLabelSelector(selector: unknown): string {
  if (!isObject(selector)) return '';
  const isPlain = Object.values(selector).some((value) => typeof value === 'string');
  const labels = stringMapOf(isPlain ? selector : selector['matchLabels']);
  const terms = Object.entries(labels).map(([key, value]): [string, string] => [key, `${key}=${value}`]);
  for (const { key, operator, values } of isPlain ? [] : objectsOf(selector['matchExpressions'])) {
    const name = stringOf(key);
    const list = stringsOf(values).sort(compareText).join(',');
    const text: Readonly<Record<string, string>> = {
      In: `${name} in (${list})`,
      NotIn: `${name} notin (${list})`,
      Exists: name,
      DoesNotExist: `!${name}`,
    };
    terms.push([name, text[stringOf(operator)] ?? name]);
  }
  return terms
    .sort((a, b) => compareText(a[0], b[0]))
    .map((term) => term[1])
    .join(',');
}

/** Whether labels satisfy a selector of an object; a malformed one matches nothing. */
export function selectorMatches(selector: unknown, labels: unknown): boolean {
  if (!isObject(selector)) return false;
  const own = stringMapOf(labels);
  for (const [key, value] of Object.entries(stringMapOf(selector['matchLabels']))) {
    if (!Object.hasOwn(own, key) || own[key] !== value) return false;
  }
  return objectsOf(selector['matchExpressions']).every((expression) => {
    const key = stringOf(expression['key']);
    const has = Object.hasOwn(own, key);
    const listed = has && arrayOf(expression['values']).includes(own[key]);
    switch (expression['operator']) {
      case 'In':
        return listed;
      case 'NotIn':
        return !listed;
      case 'Exists':
        return has;
      case 'DoesNotExist':
        return !has;
      default:
        return false;
    }
  });
}

/** Whether a selector has no requirement. */
export function isEmptySelector(selector: unknown): boolean {
  return (
    Object.keys(stringMapOf(at(selector, 'matchLabels'))).length === 0 &&
    objectsOf(at(selector, 'matchExpressions')).length === 0
  );
}

/** Validates a `metav1.LabelSelector`. */
export function validateLabelSelector(selector: unknown, field: string): FieldError[] {
  if (!isObject(selector)) return [];
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(stringMapOf(selector['matchLabels']))) {
    for (const message of labelKey(key)) errors.push(invalidValue(`${field}.matchLabels`, key, message));
    for (const message of validLabelValue(value)) errors.push(invalidValue(`${field}.matchLabels`, value, message));
  }
  for (const [index, expression] of objectsOf(selector['matchExpressions']).entries()) {
    const path = `${field}.matchExpressions[${index}]`;
    const operator = stringOf(expression['operator']);
    const isKnown = isSetOperator(operator) || isPresenceOperator(operator);
    if (!isKnown) errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
    errors.push(...validateLabelRequirement(expression, path));
  }
  return errors;
}

const isSetOperator = (operator: string): boolean => operator === 'In' || operator === 'NotIn';
const isPresenceOperator = (operator: string): boolean => operator === 'Exists' || operator === 'DoesNotExist';

/** Checks the number of values of an operator, if it is a known one. */
export function validateOperatorValues(requirement: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  const operator = stringOf(requirement['operator']);
  const { length } = stringsOf(requirement['values']);
  if (isSetOperator(operator) && length === 0)
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if (isPresenceOperator(operator) && length > 0)
    return [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}

/** Validates a `metav1.LabelSelectorRequirement`, of whatever operator. */
export function validateLabelRequirement(requirement: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  const errors = validateOperatorValues(requirement, field);
  const key = stringOf(requirement['key']);
  for (const message of labelKey(key)) errors.push(invalidValue(`${field}.key`, key, message));
  for (const [index, value] of stringsOf(requirement['values']).entries()) {
    for (const message of validLabelValue(value))
      errors.push(invalidValue(`${field}.values[${index}]`, value, message));
  }
  return errors;
}
