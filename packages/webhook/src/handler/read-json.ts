import { isUtf8 } from 'node:buffer';
import { parseJson } from '@kctl/apimachinery';

/** How deep objects and lists may be nested in a body. Kubernetes objects stay below 100. */
export const maxJsonDepth = 1_000;

/** Thrown for a body that is not JSON, or nested too deep. Its message holds nothing of the body. */
export class UndecodableBodyError extends Error {
  override readonly name = 'UndecodableBodyError';
}

/**
 * Parses a body.
 *
 * @throws UndecodableBodyError that quotes nothing of the body, which may hold a token or a secret
 */
export function readJson(body: Buffer): unknown {
  const problem = (what: string): UndecodableBodyError =>
    new UndecodableBodyError(`couldn't get version/kind; json parse error: ${what}`);
  if (!isUtf8(body)) throw problem('the body is not UTF-8');
  const { deepest, isOpen } = bracketsOf(body);
  if (deepest > maxJsonDepth) throw problem(`objects and lists are nested deeper than ${maxJsonDepth} levels`);
  const text = body.toString('utf8');
  try {
    return parseJson(text);
  } catch (error) {
    const place = error instanceof SyntaxError ? /position (\d+)/.exec(error.message)?.[1] : undefined;
    const isCut = isOpen && (place === undefined || Number(place) >= text.length);
    throw problem(isCut ? 'unexpected end of JSON input' : 'the body is not JSON');
  }
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\{}[]');

/** How deep brackets are nested outside of strings, and whether one, or a string, is left open. */
function bracketsOf(text: Buffer): { readonly deepest: number; readonly isOpen: boolean } {
  let depth = 0;
  let deepest = 0;
  let place = 0;
  for (; place < text.length; place++) {
    const byte = text[place];
    if (byte === quote) {
      for (place++; place < text.length && text[place] !== quote; place++) if (text[place] === backslash) place++;
      if (place >= text.length) return { deepest, isOpen: true };
    } else if (byte === openBrace || byte === openBracket) deepest = Math.max(deepest, ++depth);
    else if (byte === closeBrace || byte === closeBracket) depth--;
  }
  return { deepest, isOpen: depth > 0 };
}

/** How many values an answer may hold; far beyond what fits into a request. */
const maxValues = 10_000_000;

/**
 * Why a value cannot be written as JSON, without following it deeper than {@link maxJsonDepth}; undefined if it can.
 *
 * @throws what a getter of the value throws
 */
export function jsonProblem(value: unknown): string | undefined {
  const pending: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  let count = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: item, depth } = next;
    if (typeof item === 'function' || typeof item === 'symbol') return `it holds a ${typeof item}`;
    if (typeof item === 'number' && !Number.isFinite(item)) return `it holds ${item}`;
    if (typeof item !== 'object' || item === null) continue;
    if (depth >= maxJsonDepth) return `it has a cycle, or is nested deeper than ${maxJsonDepth} levels`;
    if ('toJSON' in item && typeof item.toJSON === 'function') {
      // Of a Date the value is known; what another object turns itself into was not looked at.
      if (!(item instanceof Date)) return 'it holds an object with a toJSON of its own';
      if (Number.isNaN(item.getTime())) return 'it holds an invalid Date';
      continue;
    }
    for (const member of Object.values(item)) pending.push({ value: member, depth: depth + 1 });
    count += 1;
    if (count > maxValues || pending.length > maxValues) return `it holds more than ${maxValues} values`;
  }
  return undefined;
}
