import { SelectorError } from './selector-error.js';

/** Operators of a parsed requirement, as they are written. */
export type LabelOperator = 'exists' | '!' | '=' | '==' | '!=' | 'in' | 'notin' | '>' | '<';

/** One condition on a label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates. */
  readonly values: readonly string[];
}

/** A requirement whose key, number of values and values are valid. Mirrors `labels.NewRequirement`. */
export function makeRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  requireKey(key);
  const distinct = [...new Set(values)].sort();
  switch (operator) {
    case 'in':
    case 'notin':
      if (distinct.length === 0) fail(key, `label ${key}: ${operator} needs at least one value`);
      break;
    case '=':
    case '==':
    case '!=':
      if (distinct.length !== 1) fail(key, `label ${key}: ${operator} needs exactly one value`);
      break;
    case '>':
    case '<':
      if (distinct.length !== 1 || !isInteger(distinct[0] ?? ''))
        fail(key, `label ${key}: ${operator} needs exactly one integer, not ${JSON.stringify(distinct.join(','))}`);
      break;
    case 'exists':
    case '!':
      if (distinct.length > 0) fail(key, `label ${key}: a test of presence takes no values`);
  }
  for (const value of distinct) requireValue(key, value);
  return { key, operator, values: distinct };
}

/** Whether labels satisfy a requirement. An absent label satisfies `!=` and `notin`. */
export function matchesRequirement(
  { key, operator, values }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case '>':
    case '<': {
      const [wanted = ''] = values;
      if (value === undefined || !isInteger(value)) return false;
      return operator === '>' ? BigInt(value) > BigInt(wanted) : BigInt(value) < BigInt(wanted);
    }
  }
}

/** How `labels.Requirement.String` prints it. */
export function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}

/** Of 64 bits, as upstream reads it. */
function isInteger(text: string): boolean {
  if (!/^-?[0-9]+$/.test(text)) return false;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value;
}

const name = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Mirrors `validation.IsQualifiedName`. */
function requireKey(key: string): void {
  const parts = key.split('/');
  const [last = '', prefix] = parts.reverse();
  const isValid =
    parts.length <= 2 &&
    last.length <= 63 &&
    name.test(last) &&
    (prefix === undefined || (prefix.length <= 253 && subdomain.test(prefix)));
  if (!isValid)
    fail(
      key,
      `${JSON.stringify(key)} is not a label key: expected name or prefix/name, the name of at most 63 letters, digits, -, _ or .`,
    );
}

/** Mirrors `validation.IsValidLabelValue`. */
function requireValue(key: string, value: string): void {
  if (value !== '' && (value.length > 63 || !name.test(value)))
    fail(
      value,
      `${JSON.stringify(value)} is not a value of label ${key}: expected at most 63 letters, digits, -, _ or .`,
    );
}

function fail(text: string, message: string): never {
  throw new SelectorError(text, message);
}
