import type { Expr, MapEntryExpr, StructFieldExpr } from './ast.js';
import { Issues } from './issues.js';
import { expandMacro, MacroError, type MacroOptions } from './macros.js';
import { tokenize, type Token } from './tokens.js';
import { TreeBuilder } from './tree-builder.js';

/** Bounds of cel-go's parser, which the API server does not change. */
const maxCodePoints = 100_000;
const maxDepth = 250;

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);
const expressionStart =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const relations = ['<', '<=', '>=', '>', '==', '!=', 'in'];

/** Ends the parse after the error has been reported. */
class Stop extends Error {}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #issues: Issues;
  readonly #make: TreeBuilder;
  readonly #options: MacroOptions;
  #position = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], issues: Issues, make: TreeBuilder, options: MacroOptions) {
    this.#tokens = tokens;
    this.#issues = issues;
    this.#make = make;
    this.#options = options;
  }

  whole(): Expr {
    const expr = this.#expression();
    const rest = this.#token;
    if (rest.type !== 'eof') {
      const isLast = this.#tokens[this.#position + 1]?.type === 'eof';
      this.#fail(`Syntax error: ${isLast ? 'extraneous' : 'mismatched'} input '${rest.text}' expecting <EOF>`);
    }
    return expr;
  }

  get #token(): Token {
    const token = this.#tokens[this.#position] ?? this.#tokens.at(-1);
    if (token === undefined) throw new Stop();
    return token;
  }

  #fail(message: string, offset: number = this.#token.offset): never {
    this.#issues.report(offset, message);
    throw new Stop();
  }

  #is(symbol: string): boolean {
    return this.#token.type === 'symbol' && this.#token.text === symbol;
  }

  #take(symbol: string): Token | undefined {
    if (!this.#is(symbol)) return undefined;
    const token = this.#token;
    this.#position++;
    return token;
  }

  #expect(symbol: string): Token {
    const token = this.#take(symbol);
    if (token !== undefined) return token;
    const { type, text } = this.#token;
    if (type === 'eof' && symbol === ')') this.#fail("Syntax error: missing ')' at '<EOF>'");
    this.#fail(`Syntax error: mismatched input '${text}' expecting '${symbol}'`);
  }

  #deeper<T>(parse: () => T): T {
    if (++this.#depth > maxDepth) this.#fail(`expression recursion limit exceeded: ${maxDepth}`);
    const result = parse();
    this.#depth--;
    return result;
  }

  #expression(): Expr {
    return this.#deeper(() => {
      const condition = this.#junction('||', '_||_', () => this.#junction('&&', '_&&_', () => this.#relation()));
      const mark = this.#take('?');
      if (mark === undefined) return condition;
      const truthy = this.#junction('||', '_||_', () => this.#junction('&&', '_&&_', () => this.#relation()));
      this.#expect(':');
      const falsy = this.#expression();
      return this.#make.call(mark.offset, '_?_:_', condition, truthy, falsy);
    });
  }

  /** `a && b && c`, balanced as a tree, so that a long chain stays shallow. */
  #junction(symbol: string, name: string, next: () => Expr): Expr {
    const terms = [next()];
    const offsets: number[] = [];
    for (let token = this.#take(symbol); token !== undefined; token = this.#take(symbol)) {
      offsets.push(token.offset);
      terms.push(next());
    }
    return this.#balance(name, terms, offsets);
  }

  #balance(name: string, terms: readonly Expr[], offsets: readonly number[]): Expr {
    const [first] = terms;
    if (first === undefined) throw new Stop();
    if (terms.length === 1) return first;
    const middle = offsets.length >> 1;
    const left = this.#balance(name, terms.slice(0, middle + 1), offsets.slice(0, middle));
    const right = this.#balance(name, terms.slice(middle + 1), offsets.slice(middle + 1));
    return this.#make.call(offsets[middle] ?? 0, name, left, right);
  }

  #binary(symbols: readonly string[], next: () => Expr): Expr {
    let left = next();
    let count = 0;
    for (;;) {
      const token = this.#token;
      if (token.type !== 'symbol' || !symbols.includes(token.text)) return left;
      if (++count + this.#depth > maxDepth) this.#fail(`expression recursion limit exceeded: ${maxDepth}`);
      this.#position++;
      const right = next();
      left = this.#make.call(token.offset, token.text === 'in' ? '@in' : `_${token.text}_`, left, right);
    }
  }

  #relation(): Expr {
    return this.#binary(relations, () =>
      this.#binary(['+', '-'], () => this.#binary(['*', '/', '%'], () => this.#unary())),
    );
  }

  #unary(): Expr {
    for (const [symbol, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      const first = this.#token;
      if (!this.#is(symbol)) continue;
      let count = 0;
      while (this.#take(symbol) !== undefined) count++;
      if (symbol === '-' && count === 1) {
        const literal = this.#negativeLiteral(first.offset);
        if (literal !== undefined) return this.#members(literal);
      }
      const minus = this.#is('-') ? this.#take('-') : undefined;
      const literal = minus === undefined ? undefined : this.#negativeLiteral(minus.offset);
      if (minus !== undefined && literal === undefined) this.#failAfter(minus);
      if (symbol === '-' && this.#is('!')) this.#failAfter(this.#tokens[this.#position - 1] ?? first);
      const operand = literal === undefined ? this.#member() : this.#members(literal);
      return count % 2 === 0 ? operand : this.#make.call(first.offset, name, operand);
    }
    return this.#member();
  }

  /** Fails at the token after a sign that only a number may follow. */
  #failAfter(sign: Token): never {
    const { type, text, offset } = this.#token;
    if (sign.text === '-' && type === 'literal' && ['true', 'false', 'null'].includes(text))
      this.#fail(`Syntax error: mismatched input '${text}' expecting IDENTIFIER`);
    const between = ' '.repeat(offset - sign.offset - 1);
    const input = type === 'eof' ? sign.text : `${sign.text}${between}${text}`;
    this.#fail(`Syntax error: no viable alternative at input '${input}'`);
  }

  #negativeLiteral(offset: number): Expr | undefined {
    const { type, value } = this.#token;
    if (type !== 'literal' || (typeof value !== 'bigint' && typeof value !== 'number')) return undefined;
    this.#position++;
    return this.#make.literal(offset, -value);
  }

  #member(): Expr {
    return this.#members(this.#primary());
  }

  #members(start: Expr): Expr {
    let expr = start;
    for (let count = 1; ; count++) {
      const token = this.#token;
      if (token.type !== 'symbol' || (token.text !== '.' && token.text !== '[')) return expr;
      if (count + this.#depth > maxDepth) this.#fail(`expression recursion limit exceeded: ${maxDepth}`);
      this.#position++;
      const isOptional = this.#options.optionals && this.#take('?') !== undefined;
      expr = token.text === '.' ? this.#select(expr, token, isOptional) : this.#index(expr, token, isOptional);
    }
  }

  #index(operand: Expr, bracket: Token, isOptional: boolean): Expr {
    const index = this.#expression();
    this.#expect(']');
    return this.#make.call(bracket.offset, isOptional ? '_[?_]' : '_[_]', operand, index);
  }

  #select(operand: Expr, dot: Token, isOptional: boolean): Expr {
    const name = this.#fieldName();
    if (isOptional) {
      return this.#make.call(dot.offset, '_?._', operand, this.#make.literal(name.offset, name.text));
    }
    const open = name.quoted ? undefined : this.#take('(');
    if (open === undefined) return this.#make.select(dot.offset, operand, name.text);
    return this.#call(name.text, operand, open.offset);
  }

  #fieldName(): { text: string; offset: number; quoted: boolean } {
    const { type, text, offset } = this.#token;
    if (type !== 'ident' && type !== 'quoted') {
      const expected = "'?', IDENTIFIER, ESC_IDENTIFIER";
      this.#fail(
        `Syntax error: no viable alternative at input '.${text === '<EOF>' ? '' : text}'`.replace(
          /'\.'$/,
          `'.' expecting {${expected}}`,
        ),
      );
    }
    this.#position++;
    return { text: type === 'quoted' ? text.slice(1, -1) : text, offset, quoted: type === 'quoted' };
  }

  #call(name: string, target: Expr | undefined, offset: number): Expr {
    const args = this.#arguments();
    try {
      const expanded = expandMacro(this.#make, { name, target, args, offset }, this.#options);
      if (expanded !== undefined) return expanded;
    } catch (error) {
      if (error instanceof MacroError) this.#fail(error.message, error.offset);
      throw error;
    }
    if (target === undefined) return this.#make.call(offset, name, ...args);
    return this.#make.member(offset, target, name, args);
  }

  #arguments(): Expr[] {
    const args: Expr[] = [];
    if (this.#take(')') !== undefined) return args;
    do args.push(this.#expression());
    while (this.#take(',') !== undefined);
    this.#expect(')');
    return args;
  }

  #primary(): Expr {
    const token = this.#token;
    if (token.type === 'literal') {
      this.#position++;
      if (token.value === 2n ** 63n) this.#issues.report(token.offset, 'invalid int literal');
      return this.#make.literal(token.offset, token.value ?? null);
    }
    if (token.type === 'ident') return this.#name('');
    if (this.#take('(') !== undefined) {
      const expr = this.#expression();
      this.#expect(')');
      return expr;
    }
    if (this.#take('[') !== undefined) return this.#list(token.offset);
    if (this.#take('{') !== undefined) return this.#map(token.offset);
    if (this.#take('.') !== undefined && this.#token.type === 'ident') return this.#name('.');
    const isExtra = token.type === 'symbol' && this.#startsExpression(this.#tokens[this.#position + 1]);
    const before = this.#tokens[this.#position - 1];
    const expected = before?.text === '[' ? expressionStart.replace("'!', ", "'!', '?', ") : expressionStart;
    return this.#fail(
      `Syntax error: ${isExtra ? 'extraneous' : 'mismatched'} input '${token.text}' expecting ${expected}`,
    );
  }

  #startsExpression(token: Token | undefined): boolean {
    if (token === undefined || token.type === 'eof') return false;
    return token.type !== 'symbol' || ['[', '{', '(', '.', '-', '!'].includes(token.text);
  }

  #name(dot: string): Expr {
    const token = this.#token;
    const structName = this.#structName();
    if (structName !== undefined) {
      const brace = this.#expect('{');
      return this.#struct(dot + structName, brace.offset);
    }
    this.#position++;
    if (reserved.has(token.text)) this.#fail(`reserved identifier: ${token.text}`, token.offset);
    const open = this.#take('(');
    if (open !== undefined) return this.#call(dot + token.text, undefined, open.offset);
    return this.#make.ident(token.offset, dot + token.text);
  }

  /** The name before `{`, when what comes is `a.b.C{...}`. */
  #structName(): string | undefined {
    let position = this.#position;
    const parts: string[] = [];
    for (;;) {
      const name = this.#tokens[position];
      if (name?.type !== 'ident') return undefined;
      parts.push(name.text);
      const next = this.#tokens[position + 1];
      if (next?.type !== 'symbol') return undefined;
      if (next.text === '{') {
        this.#position = position + 1;
        return parts.join('.');
      }
      if (next.text !== '.') return undefined;
      position += 2;
    }
  }

  #list(offset: number): Expr {
    const elements: { value: Expr; optional: boolean }[] = [];
    while (!this.#is(']')) {
      const optional = this.#options.optionals && this.#take('?') !== undefined;
      elements.push({ value: this.#expression(), optional });
      if (this.#take(',') === undefined) break;
    }
    this.#expect(']');
    return this.#make.list(offset, elements);
  }

  #map(offset: number): Expr {
    const entries: MapEntryExpr[] = [];
    while (!this.#is('}')) {
      const optional = this.#options.optionals && this.#take('?') !== undefined;
      const key = this.#expression();
      const colon = this.#expect(':');
      entries.push(this.#make.mapEntry(colon.offset, key, this.#expression(), optional));
      if (this.#take(',') === undefined) break;
    }
    this.#expect('}');
    return this.#make.map(offset, entries);
  }

  #struct(typeName: string, offset: number): Expr {
    const fields: StructFieldExpr[] = [];
    while (!this.#is('}')) {
      const optional = this.#options.optionals && this.#take('?') !== undefined;
      const name = this.#fieldName();
      const colon = this.#expect(':');
      fields.push(this.#make.structField(colon.offset, name.text, this.#expression(), optional));
      if (this.#take(',') === undefined) break;
    }
    this.#expect('}');
    return this.#make.struct(offset, typeName, fields);
  }
}

/** A parsed source; with `issues.count > 0` there is no usable tree. */
export interface Parsed {
  readonly expr: Expr | undefined;
  readonly issues: Issues;
}

/** Parses a CEL expression of at most 100,000 characters and a depth of 250, as in cel-go. */
export function parse(source: string, options: MacroOptions): Parsed {
  const issues = new Issues(source);
  // A string of up to 100,000 UTF-16 units has no more characters than that.
  const size = source.length > maxCodePoints ? Array.from(source.slice(0, 2 * maxCodePoints + 2)).length : 0;
  if (size > maxCodePoints) {
    issues.report(0, `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}`);
    return { expr: undefined, issues };
  }
  const tokens = tokenize(source, issues);
  try {
    const expr = new Parser(tokens, issues, new TreeBuilder(), options).whole();
    return { expr: issues.count === 0 ? expr : undefined, issues };
  } catch (error) {
    if (error instanceof Stop) return { expr: undefined, issues };
    throw error;
  }
}
