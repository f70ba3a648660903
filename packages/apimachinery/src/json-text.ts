import { isSelfWriting, type JsonObject } from './json-object.js';

/**
 * Sixteen digits at the start of a number, which an integer beyond 2^53 must have. Other matches only cost the slow
 * path.
 */
const maybeUnsafeInteger = /[:,[\s]-?\d{16}/;
/** The same for a JSON document that is a single number; one pattern for both would be half as fast. */
const isLongNumber = /^-?\d{16}/;
const integerSource = /^-?\d+$/;

interface ReviverContext {
  readonly source?: string;
}

/**
 * `JSON.parse` that keeps integers beyond ±2^53 exact as `bigint`; everything else is as usual. JSON without a run of
 * 16 digits, which is nearly all JSON, takes the plain fast path.
 *
 * @throws SyntaxError when the input is not JSON; it names the position and does not quote the input, which may be a
 * Secret
 */
export function parseJson(text: string): unknown {
  const isPlain = !hasManyDigits(text) || (!maybeUnsafeInteger.test(text) && !isLongNumber.test(text));
  try {
    return isPlain ? JSON.parse(text) : JSON.parse(text, keepInteger);
  } catch (error) {
    throw withoutQuote(error);
  }
}

/** V8 quotes the source around a syntax error, and the source may be a Secret. */
export function withoutQuote(error: unknown): SyntaxError {
  const position = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
  return new SyntaxError(position === undefined ? 'invalid JSON' : `invalid JSON at ${position}`);
}

/** Reports whether there are sixteen digits in a row. Every run of that length covers a checked position. */
function hasManyDigits(text: string): boolean {
  for (let place = 15; place < text.length; place += 16) {
    if (!isDigit(text.charCodeAt(place))) continue;
    let start = place;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--;
    let end = place + 1;
    while (end - start < 16 && end < text.length && isDigit(text.charCodeAt(end))) end++;
    if (end - start >= 16) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * `JSON.stringify` that also writes `bigint`, as the integer it is. Objects without one take the plain fast path.
 *
 * @throws TypeError when the value has a cycle or is not representable, and with the path of a Date that is not valid,
 * which `JSON.stringify` would write as null
 */
export function stringifyJson(value: unknown): string {
  const text = textOf(value);
  // A null is rare, so that the search for what became one is, too.
  const path = text.includes('null') ? invalidDateIn(value) : undefined;
  if (path !== undefined)
    throw new TypeError(`${path === '' ? 'the value' : path.replace(/^\./, '')} is a Date that is not valid`);
  return text;
}

function textOf(value: unknown): string {
  try {
    return toText(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return toText(value, writeInteger);
  }
}

/**
 * The path of the first Date without a time; undefined if there is none. Put together on the way back, because templates
 * of pods have `creationTimestamp: null`, so that the search is part of their writes.
 */
function invalidDateIn(value: unknown): string | undefined {
  if (!isTree(value)) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = isTree(value[index]) ? invalidDateIn(value[index]) : undefined;
      if (found !== undefined) return `[${index}]${found}`;
    }
    return undefined;
  }
  // What writes itself is not written member by member, and its members may be a cycle.
  if (isSelfWriting(value)) return value instanceof Date && Number.isNaN(value.getTime()) ? '' : undefined;
  for (const key in value) {
    const member = (value as Readonly<JsonObject>)[key];
    const found = isTree(member) && Object.hasOwn(value, key) ? invalidDateIn(member) : undefined;
    if (found !== undefined) return `.${key}${found}`;
  }
  return undefined;
}

/** Leaves are recognized before the call, because most values are leaves. */
function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function toText(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  const text: unknown = JSON.stringify(value, replacer);
  if (typeof text !== 'string') throw new TypeError(`stringifyJson: a ${typeof value} is not representable in JSON`);
  return text;
}

/**
 * A reviver's third argument holds the source of a primitive (ES2025); TypeScript's library does not declare it yet.
 */
function keepInteger(this: unknown, _key: string, value: unknown, context?: ReviverContext): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && integerSource.test(source) ? BigInt(source) : value;
}

function writeInteger(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const safe = Number(value);
  return Number.isSafeInteger(safe) ? safe : rawJson(value.toString());
}

/** `JSON.rawJSON` (ES2025; in every Node that this package supports). */
function rawJson(text: string): unknown {
  const json: object & { rawJSON?: (text: string) => unknown } = JSON;
  if (json.rawJSON === undefined)
    throw new TypeError('stringifyJson: this runtime has no JSON.rawJSON to write a bigint with');
  return json.rawJSON(text);
}
