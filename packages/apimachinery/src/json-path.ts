import { isJsonObject } from './json-object.js';

/** More steps than any path of a column or selectable field has. */
const maxSteps = 100;
/** A path that finds more than this on its way finds nothing: `..*..*` multiplies what it visits with each step. */
const maxValues = 10_000;
/**
 * A path that visits more than this finds nothing, because a filter may search a whole object for each of its values.
 */
const maxVisits = 100_000;

/** A compiled JSONPath. Returns the values that it finds, which is an empty list if a step is missing. */
export type JsonPath = (root: unknown) => unknown[];

type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly type: 'all' }
  | { readonly type: 'recursive' }
  | { readonly type: 'filter'; readonly left: readonly Step[]; readonly operator: string; readonly right: unknown };

const code = 'KCTL_JSON_PATH';

/** Thrown for a path that cannot be read. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_JSON_PATH' = code;
}

/** Whether an error is a {@link JsonPathError}, also one of another copy of this package. */
export function isJsonPathError(error: unknown): error is JsonPathError {
  return error instanceof Error && 'code' in error && error.code === code;
}

function literal(text: string): unknown {
  const quoted = /^(['"])(.*)\1$/.exec(text);
  if (quoted !== null) return quoted[2];
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  if (text === '' || Number.isNaN(number)) throw new JsonPathError(`cannot read the literal ${JSON.stringify(text)}`);
  return number;
}

function parseFilter(text: string): Step {
  const match = /^@([^=!<>]*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?$/.exec(text.trim());
  if (match === null) throw new JsonPathError(`cannot read the filter ${JSON.stringify(text)}`);
  const [, path = '', operator = '', right = ''] = match;
  return {
    type: 'filter',
    left: stepsOf(path),
    operator,
    right: operator === '' ? undefined : literal(right),
  };
}

function parseBracket(text: string): Step {
  const inner = text.trim();
  if (inner === '*') return { type: 'all' };
  const filter = /^\?\((.*)\)$/s.exec(inner);
  if (filter !== null) return parseFilter(filter[1] ?? '');
  const quoted = /^(['"])(.*)\1$/.exec(inner);
  if (quoted !== null) return { type: 'field', name: (quoted[2] ?? '').replace(/\\(.)/g, '$1') };
  const slice = /^(-?\d*):(-?\d*)$/.exec(inner);
  if (slice !== null) {
    const bound = (part = ''): number | undefined => (part === '' ? undefined : Number(part));
    return { type: 'slice', from: bound(slice[1]), to: bound(slice[2]) };
  }
  if (/^-?\d+$/.test(inner)) return { type: 'index', index: Number(inner) };
  throw new JsonPathError(`cannot read ${JSON.stringify(`[${text}]`)}`);
}

/** The end of a bracket that opens at `start`, quotes and nesting respected. */
function closing(path: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let index = start; index < path.length; index += 1) {
    const character = path[index] ?? '';
    if (quote !== '') {
      if (character === '\\') index += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '[') depth += 1;
    else if (character === ']') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  throw new JsonPathError(`unterminated array in ${JSON.stringify(path)}`);
}

function parseSteps(path: string): Step[] {
  const steps: Step[] = [];
  let rest = path.startsWith('$') ? path.slice(1) : path;
  while (rest !== '') {
    if (rest.startsWith('[')) {
      const end = closing(rest, 0);
      steps.push(parseBracket(rest.slice(1, end)));
      rest = rest.slice(end + 1);
      continue;
    }
    if (rest.startsWith('..')) {
      steps.push({ type: 'recursive' });
      rest = rest.slice(rest[2] === '[' ? 2 : 1);
      continue;
    }
    const match = /^\.?((?:\\[^]|[^.[\\])*)/.exec(rest);
    const length = match?.[0].length ?? 0;
    // A backslash with nothing behind it.
    if (length === 0) throw new JsonPathError(`cannot read ${JSON.stringify(rest)}`);
    const name = (match?.[1] ?? '').replace(/\\([^])/g, '$1');
    if (name === '*') steps.push({ type: 'all' });
    else if (name !== '') steps.push({ type: 'field', name });
    rest = rest.slice(length);
  }
  return steps;
}

function compares(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  const isComparable =
    (typeof left === 'number' && typeof right === 'number') || (typeof left === 'string' && typeof right === 'string');
  if (!isComparable) return false;
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

/** Results and remaining visits of one evaluation. */
interface Visits {
  left: number;
}

/** Takes a step from a value, and adds what it finds. */
function take(value: unknown, step: Step, found: unknown[], visits: Visits): void {
  switch (step.type) {
    case 'field':
      if (isJsonObject(value) && Object.hasOwn(value, step.name)) found.push(value[step.name]);
      return;
    case 'index': {
      if (!Array.isArray(value)) return;
      const index = step.index < 0 ? value.length + step.index : step.index;
      if (index in value) found.push(value[index]);
      return;
    }
    case 'slice':
      if (Array.isArray(value)) addAll(value.slice(step.from, step.to), found, visits);
      return;
    case 'all':
      addAll(children(value), found, visits);
      return;
    case 'recursive':
      descend(value, found, visits);
      return;
    case 'filter':
      for (const item of children(value)) {
        visits.left--;
        if (isTooMuch(found, visits)) return;
        const left = evaluate(step.left, item, visits);
        if (step.operator === '' ? left.length > 0 : left.some((each) => compares(each, step.operator, step.right)))
          found.push(item);
      }
  }
}

const isTooMuch = (found: readonly unknown[], visits: Visits): boolean => found.length > maxValues || visits.left < 0;

function addAll(values: readonly unknown[], found: unknown[], visits: Visits): void {
  for (const value of values) {
    visits.left--;
    found.push(value);
    if (isTooMuch(found, visits)) return;
  }
}

/** A value and all below it, each before what is below it. */
function descend(root: unknown, found: unknown[], visits: Visits): void {
  const rest = [root];
  while (rest.length > 0 && !isTooMuch(found, visits)) {
    const value = rest.pop();
    visits.left--;
    found.push(value);
    const below = children(value);
    for (let index = below.length - 1; index >= 0; index--) rest.push(below[index]);
  }
}

function evaluate(steps: readonly Step[], root: unknown, visits: Visits): unknown[] {
  let values: unknown[] = [root];
  for (const step of steps) {
    const found: unknown[] = [];
    for (const value of values) {
      visits.left--;
      if (isTooMuch(found, visits)) return [];
      take(value, step, found, visits);
    }
    if (isTooMuch(found, visits)) return [];
    values = found;
  }
  return values;
}

/** @throws JsonPathError */
function stepsOf(path: string): readonly Step[] {
  const steps = parseSteps(path.trim().replace(/^\{(.*)\}$/s, '$1'));
  if (steps.length > maxSteps) throw new JsonPathError(`more than ${maxSteps} steps`);
  return steps;
}

/**
 * Compiles a JSONPath as kubectl, printer columns and selectable fields use it, with or without braces (names, indexes,
 * slices, `*`, `..` and filters). A path that finds more than 10,000 values on its way, or visits more than 100,000,
 * finds nothing.
 *
 * @throws JsonPathError
 *
 * @example
 * ```ts
 * import { compileJsonPath } from '@kctl/apimachinery';
 *
 * const ready = compileJsonPath('{.status.conditions[?(@.type=="Ready")].status}');
 * ready({ status: { conditions: [{ type: 'Ready', status: 'True' }] } }); // ['True']
 * ```
 */
export function compileJsonPath(path: string): JsonPath {
  const steps = stepsOf(path);
  return (root) => {
    const visits = { left: maxVisits };
    const values = evaluate(steps, root, visits);
    return visits.left < 0 ? [] : values;
  };
}
