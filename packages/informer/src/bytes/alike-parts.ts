import { parseJson, stringifyJson } from '@kctl/apimachinery';

/**
 * A part that sources have in common, which is an object or an array, and its place in the parsed value.
 *
 * Its source may be replaced wherever it occurs, because it begins with a bracket, a quote and a letter, which in JSON
 * can only be the beginning of a value (a quote inside a string is escaped), and it is a whole value from there on.
 */
export interface AlikePart {
  readonly text: string;
  /** Parsed and frozen. */
  readonly value: unknown;
  readonly path: readonly string[];
  /** Offset of its first character in the source that it was found in. */
  readonly start: number;
  readonly marker: string;
  readonly quotedMarker: string;
}

/** Shorter sources are parsed as fast as they are found. */
const leastLength = 48;
const mostParts = 24;
/** How far from its expected place a part is looked for. */
const mostShift = 128;
const valueBegins = /^[[{]+"[A-Za-z]/;
/**
 * Prefix of every marker. A source that contains it, also as an escape sequence, is not spliced, so no string can pass
 * for a marker.
 */
const mark = '\u007f';
const escapedMark = '\\u007';

/** The largest parts of `object` whose source occurs in both `text`, from which it was parsed, and `other`. */
export function alikeParts(object: unknown, text: string, other: string): AlikePart[] {
  const parts: AlikePart[] = [];
  let end = 0;
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null || parts.length === mostParts) return;
    const own = stringifyJson(value);
    if (own.length < leastLength) return;
    const start = path.length > 0 && valueBegins.test(own) && other.includes(own) ? text.indexOf(own, end) : -1;
    if (start < 0) {
      for (const key of Object.keys(value)) visit((value as Record<string, unknown>)[key], [...path, key]);
      return;
    }
    const marker = mark + String(parts.length);
    parts.push({ text: own, value, path, start, marker, quotedMarker: `"${marker}"` });
    end = start + own.length;
  };
  visit(object, []);
  return parts;
}

/** Result of {@link parseSpliced}. Not parsed if the parts are not in the source, or not in their places. */
export type Spliced =
  | { readonly kind: 'parsed'; readonly value: unknown; readonly saved: number }
  | { readonly kind: 'absent' | 'misplaced' };

/**
 * Parses a source without the parts that it has in common with another, and inserts these. `base` is the previous
 * version, with which the value is going to be compared; if it has another value than a part's, a copy of the part is
 * inserted. `saved` is the number of characters that were not parsed.
 *
 * @throws SyntaxError when the source is not JSON
 */
export function parseSpliced(text: string, parts: readonly AlikePart[], base: unknown): Spliced {
  if (text.includes(mark) || text.includes(escapedMark)) return absent;
  let rest = '';
  let end = 0;
  let saved = 0;
  /** How much further the last part was found than in the source of the parts. */
  let shift = 0;
  const found: AlikePart[] = [];
  for (const part of parts) {
    const start = placeOf(part.text, text, part.start + shift, end);
    if (start < 0) continue;
    shift = start - part.start;
    rest += text.slice(end, start) + part.quotedMarker;
    end = start + part.text.length;
    saved += part.text.length;
    found.push(part);
  }
  if (saved === 0) return absent;
  const value = parseJson(rest + text.slice(end));
  for (const part of found) if (!putIn(value, part, base)) return misplaced;
  return { kind: 'parsed', value, saved };
}

const absent: Spliced = { kind: 'absent' };
const misplaced: Spliced = { kind: 'misplaced' };

/** Offset of a part, at the expected place or not far from it. */
function placeOf(part: string, text: string, expected: number, least: number): number {
  // The comparison of `startsWith` takes ten times as long.
  if (text.slice(expected, expected + part.length) === part) return expected;
  const from = Math.max(least, expected - mostShift);
  const place = text.slice(from, expected + part.length + mostShift).indexOf(part);
  return place < 0 ? -1 : from + place;
}

function putIn(root: unknown, { path, marker, value, text }: AlikePart, base: unknown): boolean {
  let parent: unknown = root;
  let before: unknown = base;
  const last = path.length - 1;
  for (let depth = 0; depth < last; depth++) {
    const key = path[depth] ?? '';
    parent = memberOf(parent, key);
    before = memberOf(before, key);
  }
  const key = path[last] ?? '';
  if (memberOf(parent, key) !== marker) return false;
  before = memberOf(before, key);
  (parent as Record<string, unknown>)[key] = before === undefined || before === value ? value : parseJson(text);
  return true;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
