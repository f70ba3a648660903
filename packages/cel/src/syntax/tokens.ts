import type { Issues } from './issues.js';
import { unescapeBytes, unescapeText } from './escapes.js';
import type { LiteralValue } from './ast.js';

/** One token. `text` is what stands in the source. */
export interface Token {
  readonly type: 'eof' | 'ident' | 'quoted' | 'literal' | 'symbol';
  readonly text: string;
  readonly offset: number;
  readonly value?: LiteralValue;
  /** Whether it has no end and counts for nothing. */
  readonly isBroken?: boolean;
}

const symbols = ['==', '!=', '<=', '>=', '&&', '||', ...Array.from('[]{}().,:?-!+*/%<>')];
const space = /[ \t\r\n\f]+|\/\/[^\n]*/y;
const number =
  /0x[0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|[0-9]+[uU]?/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const quoted = /`[A-Za-z0-9_.\-/ ]+`/y;
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

function at(pattern: RegExp, source: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(source)?.[0];
}

/** The length of a string literal's prefix and opening quotes at the offset, if one starts there. */
function stringHead(
  source: string,
  offset: number,
): { raw: boolean; bytes: boolean; quote: string; length: number } | undefined {
  let position = offset;
  let raw = false;
  let bytes = false;
  for (let count = 0; count < 2; count++) {
    const char = source[position];
    if (!raw && (char === 'r' || char === 'R')) raw = true;
    else if (!bytes && (char === 'b' || char === 'B')) bytes = true;
    else break;
    position++;
  }
  const char = source[position];
  if (char !== '"' && char !== "'") return undefined;
  const quote = source.startsWith(char.repeat(3), position) ? char.repeat(3) : char;
  return { raw, bytes, quote, length: position - offset + quote.length };
}

/** Splits a source into tokens; invalid input is reported and skipped. */
export function tokenize(source: string, issues: Issues): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < source.length) {
    const blank = at(space, source, offset);
    if (blank !== undefined) {
      offset += blank.length;
      continue;
    }
    const token = stringToken(source, offset, issues) ?? plainToken(source, offset, issues);
    if (token?.isBroken === true) {
      offset += token.text.length;
      continue;
    }
    if (token === undefined) {
      // The first half of `==`, `&&` and `||` takes the character behind it along.
      const length = '=&|'.includes(source[offset] ?? '') ? 2 : 1;
      const char = Array.from(source.slice(offset, offset + 4))
        .slice(0, length)
        .join('');
      issues.report(offset, `Syntax error: token recognition error at: '${char}'`);
      offset += char.length;
      continue;
    }
    tokens.push(token);
    offset += token.text.length;
  }
  tokens.push({ type: 'eof', text: '<EOF>', offset: source.length });
  return tokens;
}

function stringToken(source: string, offset: number, issues: Issues): Token | undefined {
  const head = stringHead(source, offset);
  if (head === undefined) return undefined;
  const start = offset + head.length;
  let end = start;
  for (;;) {
    if (end >= source.length || (head.quote.length === 1 && (source[end] === '\n' || source[end] === '\r'))) {
      issues.report(offset, `Syntax error: token recognition error at: '${source.slice(offset, end)}'`);
      return { type: 'literal', text: source.slice(offset, end), offset, isBroken: true };
    }
    if (source.startsWith(head.quote, end)) break;
    end += !head.raw && source[end] === '\\' ? 2 : 1;
  }
  const body = source.slice(start, end).replaceAll(/\r\n?/g, '\n');
  const text = source.slice(offset, end + head.quote.length);
  try {
    const value = head.bytes ? unescapeBytes(body, head.raw) : head.raw ? body : unescapeText(body);
    return { type: 'literal', text, offset, value };
  } catch (error) {
    issues.report(offset, error instanceof Error ? error.message : 'invalid string literal');
    return { type: 'literal', text, offset, value: '' };
  }
}

function plainToken(source: string, offset: number, issues: Issues): Token | undefined {
  const digits = at(number, source, offset);
  if (digits !== undefined) return numberToken(digits, offset, issues);
  const name = at(identifier, source, offset);
  if (name !== undefined) {
    if (name === 'true' || name === 'false') return { type: 'literal', text: name, offset, value: name === 'true' };
    if (name === 'null') return { type: 'literal', text: name, offset, value: null };
    return { type: name === 'in' ? 'symbol' : 'ident', text: name, offset };
  }
  const quotedName = at(quoted, source, offset);
  if (quotedName !== undefined) return { type: 'quoted', text: quotedName, offset };
  const symbol = symbols.find((each) => source.startsWith(each, offset));
  return symbol === undefined ? undefined : { type: 'symbol', text: symbol, offset };
}

function numberToken(text: string, offset: number, issues: Issues): Token {
  const isHex = text.startsWith('0x');
  const isUint = /[uU]$/.test(text);
  if (!isHex && /[.eE]/.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) issues.report(offset, 'invalid double literal');
    return { type: 'literal', text, offset, value };
  }
  const magnitude = BigInt(isUint ? text.slice(0, -1) : text);
  if (isUint) {
    if (magnitude > maxUint) issues.report(offset, 'invalid uint literal');
    return { type: 'literal', text, offset, value: { uint: magnitude } };
  }
  // One more than the largest int, which the parser accepts only after a minus sign.
  if (magnitude > maxInt + 1n) issues.report(offset, 'invalid int literal');
  return { type: 'literal', text, offset, value: magnitude };
}
