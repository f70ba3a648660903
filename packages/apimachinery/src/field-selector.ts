import { isJsonObject } from './json-object.js';
import { requireSelectorMethods, requireSource, requireTexts, SelectorError } from './selector-error.js';
import type { FieldSelector, FieldTerm } from './selector.js';

/**
 * Parses a field selector as the API server does: `status.phase=Running,metadata.name!=a`. In values, `\`, `,` and `=`
 * are written with a backslash. The empty string matches everything. Mirrors `fields.ParseSelector`.
 *
 * @throws SelectorError naming the term that is not well-formed
 */
export function parseFieldSelector(text: string): FieldSelector {
  return makeSelector(
    splitTerms(text)
      .filter((term) => term !== '')
      .map((term) => parseTerm(text, term)),
  );
}

/**
 * Returns a field selector for any supported form, which is a string, a `path → value` record, a list of terms, or a
 * selector, which is returned unchanged.
 *
 * @throws SelectorError when the string is not well-formed
 */
export function fieldSelectorFrom(
  source: FieldSelector | readonly FieldTerm[] | Readonly<Record<string, string>> | string,
): FieldSelector {
  if (typeof source === 'string') return parseFieldSelector(source);
  requireSource('field', source);
  if (isTerms(source)) {
    for (const [place, term] of source.entries()) requireTerm(term, place);
    return makeSelector(source);
  }
  if (isSelector(source)) {
    requireSelectorMethods('field', source);
    const terms: unknown = source.terms;
    if (!Array.isArray(terms))
      throw new SelectorError(
        'terms',
        'field selector: terms is not an array: expected what fieldSelectorFrom returns',
      );
    for (const [place, term] of terms.entries()) requireTerm(term, place);
    return source;
  }
  requireTexts('field', source);
  return makeSelector(Object.entries(source).map(([path, value]) => ({ path, operator: '=', value })));
}

function isTerms(source: object): source is readonly FieldTerm[] {
  return Array.isArray(source);
}

/**
 * @throws SelectorError for any other operator, because the term would match here what it does not match on a server
 */
function requireTerm(term: unknown, place: number): void {
  const fields: Readonly<Record<string, unknown>> = isJsonObject(term) ? term : {};
  const { path, operator, value } = fields;
  const isTerm = typeof path === 'string' && path !== '' && typeof value === 'string';
  if (isTerm && (operator === '=' || operator === '!=')) return;
  throw new SelectorError(
    `[${place}]`,
    `field selector: term ${place} is not valid: expected { path, operator, value }, texts with the operator "=" or "!="`,
  );
}

function isSelector(source: object): source is FieldSelector {
  return 'matches' in source && typeof source.matches === 'function';
}

function makeSelector(terms: readonly FieldTerm[]): FieldSelector {
  const text = terms.map(({ path, operator, value }) => `${path}${operator}${escapeValue(value)}`).join(',');
  return {
    type: 'field',
    terms,
    isEmpty: terms.length === 0,
    matches: (fields) =>
      terms.every(({ path, operator, value }) => {
        const actual = Object.hasOwn(fields, path) ? (fields[path] ?? '') : '';
        return operator === '=' ? actual === value : actual !== value;
      }),
    toString: () => text,
  };
}

/** Splits at commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(text: string, term: string): FieldTerm {
  const match = /^(?<path>.*?)(?<operator>!=|==|=)(?<value>.*)$/su.exec(term);
  const { path = '', operator = '', value = '' } = match?.groups ?? {};
  if (match === null || path === '')
    throw new SelectorError(
      text,
      `field selector ${JSON.stringify(text)}: ${JSON.stringify(term)} is not path=value or path!=value`,
    );
  return { path, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(text, value) };
}

function escapeValue(value: string): string {
  return value.replaceAll(/[\\,=]/g, '\\$&');
}

function unescapeValue(text: string, value: string): string {
  let plain = '';
  for (let i = 0; i < value.length; i++) {
    const character = value.charAt(i);
    if (character === '\\') {
      const escaped = value.charAt(++i);
      if (escaped === '' || !'\\,='.includes(escaped))
        throw new SelectorError(
          text,
          `field selector ${JSON.stringify(text)}: \\${escaped} is not an escape: expected \\\\, \\, or \\=`,
        );
      plain += escaped;
    } else if (character === '=') {
      throw new SelectorError(text, `field selector ${JSON.stringify(text)}: write = in a value as \\=`);
    } else plain += character;
  }
  return plain;
}
