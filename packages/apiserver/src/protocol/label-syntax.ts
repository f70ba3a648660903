import { goQuoted, labelKey, validLabelValue } from '@kctl/crd/internal/engine';

/**
 * Messages of the API server for a label selector that it cannot parse. The selector itself is parsed by apimachinery;
 * this walks the string the way `labels.Parser` does, for the sake of its words.
 */
type Token = { readonly type: 'identifier' | 'symbol' | 'end'; readonly text: string };

const tokenPattern = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+))/y;
const operators = new Set(['in', 'notin', '=', '==', '!=', '<', '>']);
const unparsable = 'unable to parse requirement: ';

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (let match = tokenPattern.exec(text); match !== null; match = tokenPattern.exec(text)) {
    const [, symbol, word = ''] = match;
    tokens.push(symbol === undefined ? { type: 'identifier', text: word } : { type: 'symbol', text: symbol });
  }
  return tokens;
}

class Walker {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** The first error; undefined without errors. */
  problem(): string | undefined {
    for (;;) {
      const first = this.#peek();
      if (first.type === 'end') return undefined;
      if (first.type !== 'identifier' && first.text !== '!')
        return `found '${first.text}', expected: !, identifier, or 'end of string'`;
      const problem = this.#requirement();
      if (problem !== undefined) return unparsable + problem;
      const separator = this.#next();
      if (separator.type === 'end') return undefined;
      if (separator.text !== ',') return `found '${separator.text}', expected: ',' or 'end of string'`;
      const after = this.#peek();
      if (after.type !== 'identifier' && after.text !== '!')
        return `found '${after.text}', expected: identifier after ','`;
    }
  }

  #requirement(): string | undefined {
    const isNegated = this.#peek().text === '!' && this.#peek().type === 'symbol';
    if (isNegated) this.#next();
    const key = this.#next();
    if (key.type !== 'identifier') return `found '${key.text}', expected: identifier`;
    const keyErrors = labelKey(key.text);
    // The parser has no field path, which Go prints as <nil>.
    if (keyErrors.length > 0) return `<nil>: Invalid value: ${goQuoted(key.text)}: ${keyErrors.join('; ')}`;
    const { type, text } = this.#peek();
    if (isNegated || type === 'end' || (type === 'symbol' && text === ',')) return undefined;
    const operator = this.#next();
    if (!operators.has(operator.text)) return `found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`;
    const values: string[] = [];
    const isList = operator.text === 'in' || operator.text === 'notin';
    return (isList ? this.#values(values) : this.#value(values)) ?? valueProblem(key.text, operator.text, values);
  }

  #value(values: string[]): string | undefined {
    const { type, text } = this.#peek();
    if (type === 'end' || text === ',') return undefined;
    const value = this.#next();
    if (value.type !== 'identifier') return `found '${value.text}', expected: identifier`;
    values.push(value.text);
    return undefined;
  }

  #values(values: string[]): string | undefined {
    const open = this.#next();
    if (open.text !== '(') return `found '${open.text}' expected: '('`;
    for (let isFirst = true; ; isFirst = false) {
      const value = this.#peek();
      if (value.type === 'identifier') values.push(this.#next().text);
      else if (value.text !== ',' && value.text !== ')')
        return isFirst
          ? `found '${value.text}', expected: ',', ')' or identifier`
          : `found '${value.text}', expected: ',' or ')'`;
      const separator = this.#next();
      if (separator.text === ')') return undefined;
      if (separator.text !== ',') return `found '${separator.text}', expected: ',' or ')'`;
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { type: 'end', text: '' };
  }

  #next(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

/** Objection of `labels.NewRequirement`, which receives the values as a sorted set. */
function valueProblem(key: string, operator: string, given: readonly string[]): string | undefined {
  const values = [...new Set(given)].sort();
  const ofNumbers = values.flatMap((value, index) =>
    (operator !== '<' && operator !== '>') || /^[-+]?\d+$/.test(value)
      ? []
      : `values[${index}]: Invalid value: ${goQuoted(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
  );
  const ofLabels = values.flatMap((value, index) => {
    const errors = validLabelValue(value);
    return errors.length === 0
      ? []
      : `values[${index}][${key}]: Invalid value: ${goQuoted(value)}: ${errors.join('; ')}`;
  });
  const problems = [...ofNumbers, ...ofLabels];
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0];
}

/** Upstream's message about the syntax of a label selector; undefined when it is well-formed. */
export function labelSyntaxProblem(text: string): string | undefined {
  return new Walker(text).problem();
}

/** Upstream's message about the syntax of a field selector; undefined when it is well-formed. */
export function fieldSyntaxProblem(text: string): string | undefined {
  for (const term of text.split(/(?<!\\),/)) {
    if (term === '') continue;
    const match = /^.*?(?:!=|==|=)(.*)$/s.exec(term);
    if (match === null) return `invalid selector: '${text}'; can't understand '${term}'`;
    const [, sequence, unescaped] = /^(?:[^\\=]|\\[\\,=])*(?:(\\(?![\\,=])[^]?)|(=))/u.exec(match[1] ?? '') ?? [];
    if (unescaped !== undefined) return 'invalid field selector: unescaped character in value: 61';
    if (sequence !== undefined) return `invalid field selector: invalid escape sequence: ${sequence}`;
  }
  return undefined;
}

/**
 * A field selector whose syntax is known to be valid, without its terms that have no field. As upstream, those that
 * have no value either match everything.
 */
export function namedFields(text: string): { readonly text: string; readonly hasNameless: boolean } {
  const terms = text.split(/(?<!\\),/).filter((term) => !/^(?:!=|==|=)$/.test(term));
  const named = terms.filter((term) => !/^(?:!=|=)/.test(term));
  return { text: named.join(','), hasNameless: named.length < terms.length };
}
