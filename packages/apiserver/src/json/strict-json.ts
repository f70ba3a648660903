import type { Json, JsonObject } from '@kctl/crd/internal/engine';

/** A number that Go does not read as an int64, `2.0`, `1e3` or `9223372036854775808`, or as a float64, `1e400`. */
export interface NumberLiteral {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** Findings of the scanner besides the value. */
export interface ScannedJson {
  readonly value: Json;
  /** The first thousand of them. */
  readonly literals: readonly NumberLiteral[];
  /**
   * Paths of keys that occur more than once in their object, in the order of the source, such as `spec.size`,
   * `spec.parts[0].name`.
   */
  readonly duplicates: readonly string[];
  /** Members of the document itself that a later one of the same key replaces, each as an object. @default [] */
  readonly overwritten?: readonly JsonObject[];
}

/** Thrown if a string is not JSON; the message is Go's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly code = 'KCTL_JSON_SYNTAX';
}

/** Nesting beyond this is refused, as by Go's decoder. */
export const maxDepth = 10_000;

/** Nesting that the stack of any thread is good for. */
export const inlineDepth = 1_000;

/** Thrown if JSON is nested more deeply than the walks of this thread have a stack for. */
export class TooDeepError extends JsonSyntaxError {}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainTextPattern = /[^"\\\u0000-\u001f]*/y;
const longNumber = /\d{16}/;
/** An escape of half of a character: Go puts U+FFFD for one that stands alone. */
const halfEscape = /\\u[dD][89a-fA-F]/;
/**
 * A number with a fraction or an exponent, at the start of a value. Characters within a string seldom look like one,
 * those of a time never.
 */
const floatNumber = /(?:"[\t\n\r ]*:|[[,])[\t\n\r ]*-?\d+[.eE]/;

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Reads JSON as the API server does. Integers that a double cannot hold stay exact (as `bigint`), duplicate keys are
 * reported (the last one wins) and errors read like Go's. `__proto__` is a key like any other.
 */
export function scanJson(text: string, depth: number = inlineDepth): ScannedJson {
  const value = plainValue(text);
  if (value !== undefined) return { value, duplicates: [], literals: [] };
  const scanner = new Scanner(text, depth);
  const read = scanner.document();
  const { duplicates, literals, overwritten } = scanner;
  return { value: read, duplicates, literals, ...(overwritten.length > 0 && { overwritten }) };
}

const memberColon = /"[\t\n\r ]*:/g;
/** Deeper values are left to the scanner, which has a limit. */
const plainDepth = 100;

/**
 * Returns the result of `JSON.parse` if the scanner would find the same and no duplicate, several times as fast. There
 * is not a duplicate if the value has as many keys as the source has quotes before a colon; characters within strings only
 * add to those. Returns undefined if the scanner is needed.
 */
function plainValue(text: string): Json | undefined {
  if (longNumber.test(text) || floatNumber.test(text) || halfEscape.test(text)) return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  let colons = 0;
  for (memberColon.lastIndex = 0; memberColon.test(text); ) colons++;
  return countKeys(value, 0) === colons ? value : undefined;
}

/** The keys at all depths; NaN for a value that is too deep. */
function countKeys(value: Json, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > plainDepth) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countKeys(item, depth + 1);
  else
    for (const key of Object.keys(value)) {
      const member = value[key];
      count += 1 + (member === undefined ? 0 : countKeys(member, depth + 1));
    }
  return count;
}

/** Uses `JSON.parse` if it loses nothing, the scanner otherwise. For JSON whose keys are known to be unique. */
export function parseJsonFast(text: string): unknown {
  if (longNumber.test(text) || text.includes('__proto__')) return scanJson(text).value;
  return JSON.parse(text);
}

const maxLiterals = 1_000;

class Scanner {
  readonly duplicates: string[] = [];
  readonly overwritten: JsonObject[] = [];
  readonly literals: NumberLiteral[] = [];
  readonly #text: string;
  readonly #depth: number;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, depth: number) {
    this.#text = text;
    this.#depth = depth;
  }

  document(): Json {
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail('after top-level value');
    return value;
  }

  #value(): Json {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#literal('true', true);
      case 'f':
        return this.#literal('false', false);
      case 'n':
        return this.#literal('null', null);
      default:
        return this.#number();
    }
  }

  #object(): Json {
    this.#enter();
    const object: { [key: string]: Json } = {};
    if (this.#next() === '}') return this.#leave(object);
    for (;;) {
      if (this.#text[this.#at] !== '"') this.#fail('looking for beginning of object key string');
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ':') this.#fail('after object key');
      this.#next();
      this.#path.push(key);
      if (Object.hasOwn(object, key)) {
        this.duplicates.push(formatPath(this.#path));
        if (this.#path.length === 1) this.overwritten.push({ [key]: object[key] });
      }
      const value = this.#value();
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      else object[key] = value;
      this.#path.pop();
      this.#space();
      const delimiter = this.#text[this.#at];
      if (delimiter === '}') return this.#leave(object);
      if (delimiter !== ',') this.#fail('after object key:value pair');
      this.#next();
    }
  }

  #array(): Json {
    this.#enter();
    const items: Json[] = [];
    if (this.#next() === ']') return this.#leave(items);
    for (;;) {
      this.#path.push(items.length);
      items.push(this.#value());
      this.#path.pop();
      this.#space();
      const delimiter = this.#text[this.#at];
      if (delimiter === ']') return this.#leave(items);
      if (delimiter !== ',') this.#fail('after array element');
      this.#next();
    }
  }

  #string(): string {
    let value = '';
    this.#at++;
    for (;;) {
      plainTextPattern.lastIndex = this.#at;
      const plain = plainTextPattern.exec(this.#text)?.[0] ?? '';
      value += plain;
      this.#at += plain.length;
      const character = this.#text[this.#at];
      if (character === '"') {
        this.#at++;
        return value.toWellFormed();
      }
      if (character !== '\\') this.#fail('in string literal');
      value += this.#escape();
    }
  }

  #escape(): string {
    const letter = this.#text[++this.#at] ?? '';
    if (letter === 'u') {
      const hex = this.#text.slice(this.#at + 1, this.#at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.#fail('in \\u hexadecimal character escape');
      this.#at += 5;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const meaning = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (meaning === undefined) return this.#fail('in string escape code');
    this.#at++;
    return meaning;
  }

  #number(): number | bigint {
    numberPattern.lastIndex = this.#at;
    const digits = numberPattern.exec(this.#text)?.[0];
    if (digits === undefined) return this.#fail('looking for beginning of value');
    this.#at += digits.length;
    const value = Number(digits);
    if (/[.eE]/.test(digits)) {
      const isTold = Number.isInteger(value) || !Number.isFinite(value);
      if (isTold && this.literals.length < maxLiterals) this.literals.push({ path: [...this.#path], text: digits });
      return value;
    }
    if (Number.isSafeInteger(value)) return value;
    const exact = BigInt(digits);
    if (BigInt.asIntN(64, exact) === exact) return exact;
    if (this.literals.length < maxLiterals) this.literals.push({ path: [...this.#path], text: digits });
    return value;
  }

  #literal<T extends boolean | null>(word: string, value: T): T {
    for (const letter of word) {
      if (this.#text[this.#at] !== letter) this.#fail(`in literal ${word} (expecting '${letter}')`);
      this.#at++;
    }
    return value;
  }

  #enter(): void {
    if (this.#path.length < this.#depth) return;
    throw this.#depth < maxDepth ? new TooDeepError('exceeded max depth') : new JsonSyntaxError('exceeded max depth');
  }

  #leave<T>(value: T): T {
    this.#at++;
    return value;
  }

  /** Moves past the present character and white space; answers what stands there. */
  #next(): string | undefined {
    this.#at++;
    this.#space();
    return this.#text[this.#at];
  }

  #space(): void {
    for (;;) {
      const character = this.#text.charCodeAt(this.#at);
      if (character !== 0x20 && character !== 0x0a && character !== 0x0d && character !== 0x09) return;
      this.#at++;
    }
  }

  #fail(position: string): never {
    const character = this.#text[this.#at];
    if (character === undefined) throw new JsonSyntaxError('unexpected end of JSON input');
    const quoted =
      character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`;
    throw new JsonSyntaxError(`invalid character ${quoted} ${position}`);
  }
}

function formatPath(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
}
