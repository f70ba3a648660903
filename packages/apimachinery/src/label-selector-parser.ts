import type { LabelRequirement } from './label-requirement.js';
import { makeRequirement } from './label-requirement.js';
import { SelectorError } from './selector-error.js';

/** The requirements of a label selector string, sorted by key. Mirrors the grammar of `labels.Parse`. */
export function parseLabelRequirements(text: string): LabelRequirement[] {
  const parser = new Parser(text);
  return parser.parse().sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

type Token =
  | { readonly type: 'identifier' | 'operator' | '!' | '(' | ')' | ','; readonly text: string }
  | { readonly type: 'end'; readonly text: '' };

const end: Token = { type: 'end', text: '' };
const tokenPattern = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+))/y;

/**
 * Splits the string. Operators that are words (`in`, `notin`) stay identifiers, because only their position
 * distinguishes them from keys.
 */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (let match = tokenPattern.exec(text); match !== null; match = tokenPattern.exec(text)) {
    const [, symbol, word] = match;
    if (word !== undefined) tokens.push({ type: 'identifier', text: word });
    else if (symbol === '!' || symbol === '(' || symbol === ')' || symbol === ',')
      tokens.push({ type: symbol, text: symbol });
    else tokens.push({ type: 'operator', text: symbol ?? '' });
  }
  return tokens;
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().type === 'end') return requirements;
    for (;;) {
      requirements.push(this.#requirement());
      const separator = this.#next();
      if (separator.type === 'end') return requirements;
      if (separator.type !== ',') this.#fail(separator, "',' or the end");
    }
  }

  #requirement(): LabelRequirement {
    const isNegated = this.#peek().type === '!';
    if (isNegated) this.#next();
    const key = this.#next();
    if (key.type !== 'identifier') this.#fail(key, 'a label key');
    if (isNegated) return makeRequirement(key.text, '!', []);
    const { type } = this.#peek();
    if (type === 'end' || type === ',') return makeRequirement(key.text, 'exists', []);
    const operator = this.#next();
    switch (operator.text) {
      case 'in':
      case 'notin':
        return makeRequirement(key.text, operator.text, this.#valueSet());
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return makeRequirement(key.text, operator.text, [this.#value()]);
      default:
        return this.#fail(operator, 'in, notin, =, ==, !=, < or >');
    }
  }

  /** A missing value is the empty value, as in `app=` and `app=,tier=a`. */
  #value(): string {
    const { type } = this.#peek();
    if (type === 'end' || type === ',') return '';
    const value = this.#next();
    return value.type === 'identifier' ? value.text : this.#fail(value, 'a value');
  }

  /** `(a,b)`; an empty place between the separators is the empty value. */
  #valueSet(): string[] {
    const open = this.#next();
    if (open.type !== '(') this.#fail(open, "'('");
    const values: string[] = [];
    for (;;) {
      const { type } = this.#peek();
      values.push(type === ',' || type === ')' ? '' : this.#setMember());
      const separator = this.#next();
      if (separator.type === ')') return values;
      if (separator.type !== ',') this.#fail(separator, "',' or ')'");
    }
  }

  #setMember(): string {
    const value = this.#next();
    return value.type === 'identifier' ? value.text : this.#fail(value, 'a value');
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? end;
  }

  #next(): Token {
    const token = this.#peek();
    this.#position++;
    return token;
  }

  #fail(found: Token, expected: string): never {
    const what = found.type === 'end' ? 'the end' : `'${found.text}'`;
    throw new SelectorError(
      this.#text,
      `label selector ${JSON.stringify(this.#text)}: found ${what}, expected ${expected}`,
    );
  }
}
