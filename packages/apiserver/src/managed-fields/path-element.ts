import { compareText, isObject, jsonText } from '@kctl/crd/internal/engine';

/**
 * One step of a path into an object, in the form that `fieldsV1` spells it: `f:name` for a field, `k:{"name":"a"}` for an
 * item of a list with keys, `v:"a"` for an item of a set, `i:0` for a position.
 */
export type PathElement = string;

/** Kinds in the order in which upstream sorts them. */
const kinds = 'fkvi';

/** Characters that are the same in JSON, and inside HTML. */
const plainText = /^[\w ./:@+-]*$/;

/** JSON as Go writes it into keys, safe inside HTML. */
function goJson(value: unknown): string {
  if (typeof value === 'string' && plainText.test(value)) return `"${value}"`;
  return jsonText(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Number of elements that are kept. Most fields of objects are those of a few hundred types, and items have few names.
 */
const mostKnown = 5_000;
const knownFields = new Map<string, PathElement>();

/** A field of a struct or map. */
export function fieldElement(name: string): PathElement {
  let element = knownFields.get(name);
  if (element === undefined) {
    element = `f:${name}`;
    if (knownFields.size >= mostKnown) knownFields.clear();
    knownFields.set(name, element);
  }
  return element;
}

/** The item of a list that has these values in its key fields. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  const [only] = keys;
  if (only !== undefined && keys.length === 1) return `k:{${goJson(only[0])}:${goJson(only[1])}}`;
  const sorted = [...keys].sort(([a], [b]) => compareText(a, b));
  return `k:{${sorted.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(',')}}`;
}

/** The item of a set. */
export function valueElement(value: unknown): PathElement {
  return `v:${goJson(value)}`;
}

/** The name of the field that an element selects; undefined for elements of lists. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/**
 * Reads an element as a client may have written it. Returns undefined for unknown kinds, which are dropped.
 *
 * @throws SyntaxError if it is malformed
 */
export function parseElement(encoded: string): PathElement | undefined {
  if (encoded.length < 2 || encoded[1] !== ':')
    throw new SyntaxError(`malformed path element ${JSON.stringify(encoded)}`);
  const rest = encoded.slice(2);
  switch (encoded[0]) {
    case 'f':
      return encoded;
    case 'v':
      return valueElement(JSON.parse(rest));
    case 'k': {
      const keys: unknown = JSON.parse(rest);
      if (!isObject(keys)) throw new SyntaxError(`malformed path element ${JSON.stringify(encoded)}`);
      return keyElement(Object.entries(keys));
    }
    case 'i':
      if (!/^-?\d+$/.test(rest)) throw new SyntaxError(`malformed path element ${JSON.stringify(encoded)}`);
      return encoded;
    default:
      return undefined;
  }
}

function rankOf(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0;
  if (typeof value === 'string') return 1;
  return typeof value === 'boolean' ? 2 : 3;
}

function compareValues(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const [left, right] = [Number(a), Number(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareKeys(a: unknown, b: unknown): number {
  const left = isObject(a) ? Object.entries(a) : [];
  const right = isObject(b) ? Object.entries(b) : [];
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** The order of elements in `fieldsV1` and in messages. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kind = kinds.indexOf(a.charAt(0)) - kinds.indexOf(b.charAt(0));
  if (kind !== 0) return kind;
  if (a.startsWith('f:')) return compareText(a, b);
  const left: unknown = JSON.parse(a.slice(2));
  const right: unknown = JSON.parse(b.slice(2));
  return a.startsWith('k:') ? compareKeys(left, right) : compareValues(left, right);
}

const printedItems = new Map<PathElement, string>();

/** An element as messages print it: `.spec`, `[name="a"]`, `[="a"]`, `[0]`. */
export function printElement(element: PathElement): string {
  if (element.startsWith('f:')) return `.${element.slice(2)}`;
  let printed = printedItems.get(element);
  if (printed === undefined) {
    printed = printItem(element);
    if (printedItems.size >= mostKnown) printedItems.clear();
    printedItems.set(element, printed);
  }
  return printed;
}

function printItem(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'k': {
      const keys: unknown = JSON.parse(rest);
      const pairs = isObject(keys) ? Object.entries(keys) : [];
      return `[${pairs.map(([name, value]) => `${name}=${jsonText(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${jsonText(JSON.parse(rest))}]`;
    case 'i':
      return `[${rest}]`;
    default:
      return `.${rest}`;
  }
}

/** A path as messages print it. */
export function printPath(path: readonly PathElement[]): string {
  return path.map(printElement).join('');
}
