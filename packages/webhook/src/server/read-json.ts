import { isUtf8 } from 'node:buffer';
import { parseJson } from '@kctl/apimachinery';

/** How deep objects and lists may be nested in a body. Kubernetes objects stay below 100. */
export const maxJsonDepth = 1_000;

/** Thrown for a body that is not JSON, or nested too deep. Its message holds nothing of the body. */
export class UndecodableBodyError extends Error {
  override readonly name = 'UndecodableBodyError';
}

/**
 * Parses a body. V8's own error quotes the text that it failed on, which may be a token or a secret: neither the message
 * nor the cause of what is thrown here comes from it.
 *
 * @throws UndecodableBodyError
 */
export function readJson(body: Buffer): unknown {
  const problem = (what: string): UndecodableBodyError =>
    new UndecodableBodyError(`couldn't get version/kind; json parse error: ${what}`);
  if (!isUtf8(body)) throw problem('the body is not UTF-8');
  if (depthOf(body) > maxJsonDepth) throw problem(`objects and lists are nested deeper than ${maxJsonDepth} levels`);
  try {
    return parseJson(body.toString('utf8'));
  } catch (error) {
    throw problem(endsEarly(error, body) ? 'unexpected end of JSON input' : 'the body is not JSON');
  }
}

/** Of V8's message only what holds no text of the body is looked at: its beginning, and the place. */
function endsEarly(error: unknown, body: Buffer): boolean {
  if (!(error instanceof SyntaxError)) return false;
  if (error.message.startsWith('Unexpected end of JSON input')) return true;
  const place = /^(?:Expected [^"]*|Unterminated string) in JSON at position (\d+)/.exec(error.message)?.[1];
  return place !== undefined && Number(place) >= body.toString('utf8').length;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\{}[]');

/** How deep brackets are nested outside of strings; of no meaning for what is not JSON. */
function depthOf(text: Buffer): number {
  let depth = 0;
  let deepest = 0;
  for (let place = 0; place < text.length; place++) {
    const byte = text[place];
    if (byte === quote) {
      for (place++; place < text.length && text[place] !== quote; place++) if (text[place] === backslash) place++;
    } else if (byte === openBrace || byte === openBracket) deepest = Math.max(deepest, ++depth);
    else if (byte === closeBrace || byte === closeBracket) depth--;
  }
  return deepest;
}

/** How many values an answer may hold; far beyond what fits into a request. */
const maxValues = 10_000_000;

/** Why a value cannot be written as JSON, without following it deeper than {@link maxJsonDepth}; undefined if it can. */
export function jsonProblem(value: unknown): string | undefined {
  const pending: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  let count = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: item, depth } = next;
    if (typeof item === 'function' || typeof item === 'symbol') return `it holds a ${typeof item}`;
    if (typeof item === 'number' && !Number.isFinite(item)) return `it holds ${item}`;
    if (typeof item !== 'object' || item === null) continue;
    if (depth >= maxJsonDepth) return `it has a cycle, or is nested deeper than ${maxJsonDepth} levels`;
    for (const member of Object.values(item)) pending.push({ value: member, depth: depth + 1 });
    count += 1;
    if (count > maxValues || pending.length > maxValues) return `it holds more than ${maxValues} values`;
  }
  return undefined;
}
