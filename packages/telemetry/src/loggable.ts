import { describeError, isError } from './describe-error.js';
import { isKubernetesObject, refusalOf, summaryOf } from './kubernetes-object.js';
import { functionName, messageOf, withoutSecrets } from './message-of.js';
import { unwrapWhole } from './whole-object.js';

/** A value that `JSON.stringify` takes as it is. */
export type Loggable =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Loggable[]
  | { readonly [key: string]: Loggable };

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const maxDepth = 12;
const maxEntries = 200;
const maxTextLength = 32_768;
/**
 * About how many characters a value may become, because entries that many others refer to are written at each place.
 */
const maxSize = 1_000_000;
/** Size of an entry, in addition to its characters. */
const entrySize = 32;

/** How values are turned into {@link Loggable}s. */
export interface LoggableOptions {
  /** Whether errors are described with their stacks. @default true */
  readonly stacks?: boolean;
}

/**
 * A field value as a log line contains it. Does not throw and does not change the value, whatever it is.
 *
 * - Kubernetes objects, at any depth, become kind, namespace, name and resourceVersion; with {@link wholeObject} their
 *   contents, except those of Secrets.
 * - Errors become name, message with those of all causes, code, and the stacks of the whole chain.
 * - Values with `toJSON`, including arrays and Maps that have it, become its return value.
 * - Big integers, symbols, functions, NaN and infinite numbers become strings, bytes their length, Maps objects, and
 *   Sets arrays. Passwords in URLs are replaced.
 * - Values that cannot be read, that contain themselves, or that are deeper than 12 levels become a short note. Arrays
 *   and records are cut to the first 200 entries, strings to the first 32,768 characters, and the whole value to about
 *   the first million characters.
 *
 * For adapters of other logging libraries behind the Logger contract.
 */
export function loggable(value: unknown, options: LoggableOptions = {}): Loggable {
  return convert(value, { stacks: options.stacks ?? true, whole: false, above: [], size: { left: maxSize } });
}

interface Place {
  readonly stacks: boolean;
  /** Inside an object whose contents were requested, so only Secrets are summarised. */
  readonly whole: boolean;
  readonly above: readonly object[];
  /** Shared by all places of one value. */
  readonly size: { left: number };
}

function convert(value: unknown, place: Place): Loggable {
  place.size.left -= entrySize;
  switch (typeof value) {
    case 'string':
      if (place.size.left <= 0) return '[more, a text]';
      place.size.left -= Math.min(value.length, maxTextLength);
      return value.length > maxTextLength
        ? `${withoutSecrets(value.slice(0, maxTextLength))}… (${value.length - maxTextLength} more characters)`
        : withoutSecrets(value);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
    case 'undefined':
      return value;
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'function':
      return `[function ${functionName(value)}]`;
    case 'object':
      if (value === null) return null;
      try {
        return convertObject(value, place);
      } catch (error) {
        return `[cannot be logged: ${messageOf(error)}]`;
      }
  }
}

function convertObject(value: object, place: Place): Loggable {
  if (place.above.includes(value)) return '[contains itself]';
  if (place.above.length >= maxDepth || place.size.left <= 0)
    return Array.isArray(value) ? '[more, an array]' : '[more, an object]';
  const inside = { ...place, above: [...place.above, value] };
  const wrapped = unwrapWhole(value);
  if (wrapped !== undefined) return convert(wrapped, { ...inside, whole: true });
  if (isError(value)) return { ...describeError(value, { stack: place.stacks }) };
  if (isKubernetesObject(value)) {
    const refusal = refusalOf(value);
    const isNested = place.whole && place.above.some((object) => isKubernetesObject(object));
    if (!place.whole || (refusal !== undefined && !(isNested && !hasKind(value))))
      return { ...summaryOf(value), ...(place.whole && refusal !== undefined ? { refused: refusal } : {}) };
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return withoutPassword(value);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'Invalid Date';
  // Before the entries of any container, because a value with its own `toJSON`, such as a connection, leaves secrets
  // out.
  const toJson: unknown = Reflect.get(value, 'toJSON');
  if (typeof toJson === 'function') return convert(Reflect.apply(toJson, value, ['']), inside);
  if (Array.isArray(value)) return entriesOf(value, (entry) => convert(entry, inside));
  if (value instanceof Map)
    return record(
      [...value].map(([key, entry]) => [messageOf(key), entry]),
      inside,
    );
  if (value instanceof Set) return entriesOf([...value], (entry) => convert(entry, inside));
  return record(Object.entries(value), inside);
}

function hasKind(value: object): boolean {
  return typeof Reflect.get(value, 'kind') === 'string';
}

function entriesOf(values: readonly unknown[], each: (value: unknown) => Loggable): Loggable[] {
  const shown = values.slice(0, maxEntries).map(each);
  return values.length > maxEntries ? [...shown, `… ${values.length - maxEntries} more`] : shown;
}

function record(entries: readonly (readonly [string, unknown])[], place: Place): Loggable {
  const shown = entries
    .slice(0, maxEntries)
    .filter(([key]) => key !== lastApplied && !(key === 'managedFields' && place.whole))
    .map(([key, value]): [string, Loggable] => [key, convert(value, place)]);
  if (entries.length > maxEntries) shown.push(['…', `${entries.length - maxEntries} more`]);
  return Object.fromEntries(shown);
}

function withoutPassword(url: URL): string {
  if (url.password === '' && url.username === '') return url.href;
  const copy = new URL(url.href);
  copy.username = '';
  copy.password = '';
  return copy.href;
}
