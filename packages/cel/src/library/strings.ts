import type { CallContext, FunctionEntry } from '../check/functions.js';
import { ArrayList } from '../values/list.js';
import { Failure, ListValue, noSuchOverload, type Value } from '../values/value.js';
import { formatText } from './string-format.js';
import { quoteText } from '../values/go-format.js';
import { RegexCache } from './regex-cache.js';

const maxText = 2 ** 26;

type TextCall = (text: string, args: readonly Value[], context: CallContext) => Value | Failure;

function onText(call: TextCall): FunctionEntry['call'] {
  return ([text, ...rest], context) => (typeof text === 'string' ? call(text, rest, context) : noSuchOverload);
}

function member(name: string, id: string, type: string, call: TextCall): FunctionEntry {
  return { name, id, type: `string.${type}`, call: onText(call) };
}

function withText(call: (text: string, other: string, context: CallContext) => Value | Failure): TextCall {
  return (text, [other], context) => (typeof other === 'string' ? call(text, other, context) : noSuchOverload);
}

/** The characters of a string; one unit each if it has no surrogates. */
function chars(text: string, { meter }: CallContext): readonly string[] {
  meter.toil(text.length >> 2);
  return Array.from(text);
}

function indexOf(text: string, args: readonly Value[], isLast: boolean, context: CallContext): Value | Failure {
  const [search, from] = args;
  if (typeof search !== 'string') return noSuchOverload;
  const own = chars(text, context);
  const sought = Array.from(search);
  if (from !== undefined && (typeof from !== 'bigint' || from < 0n || from > BigInt(own.length))) {
    return new Failure(typeof from === 'bigint' ? `index out of range: ${from}` : 'no such overload');
  }
  const limit = own.length - sought.length;
  if (search === '') return from ?? (isLast ? BigInt(own.length) : 0n);
  const start = from === undefined ? (isLast ? limit : 0) : Number(from);
  const unit = own.slice(0, isLast ? start + sought.length : undefined).join('');
  const lead = isLast ? 0 : own.slice(0, start).join('').length;
  const found = isLast ? unit.lastIndexOf(search) : unit.indexOf(search, lead);
  return found < 0 ? -1n : BigInt(Array.from(unit.slice(0, found)).length);
}

function substring(text: string, args: readonly Value[], context: CallContext): Value | Failure {
  const own = chars(text, context);
  const [start, end = BigInt(own.length)] = args;
  if (typeof start !== 'bigint' || typeof end !== 'bigint') return noSuchOverload;
  const size = BigInt(own.length);
  if (start < 0n || start > size) return new Failure(`index out of range: ${start}`);
  if (end < 0n || end > size) return new Failure(`index out of range: ${end}`);
  if (start > end) return new Failure(`invalid substring range. start: ${start}, end: ${end}`);
  return own.slice(Number(start), Number(end)).join('');
}

function occurrences(text: string, old: string): number {
  if (old === '') return Array.from(text).length + 1;
  return text.split(old).length - 1;
}

function replace(text: string, args: readonly Value[], { meter }: CallContext): Value | Failure {
  const [old, by, count = -1n] = args;
  if (typeof old !== 'string' || typeof by !== 'string' || typeof count !== 'bigint') return noSuchOverload;
  const all = occurrences(text, old);
  const times = count < 0n || count > BigInt(all) ? all : Number(count);
  const size = text.length + times * by.length;
  if (size > maxText) return new Failure('string is too long');
  meter.toil(size >> 3);
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  const head = parts.slice(0, times + 1).join(by);
  const tail = parts.slice(times + 1);
  return tail.length === 0 ? head : head + old + tail.join(old);
}

function split(text: string, args: readonly Value[]): Value | Failure {
  const [separator, limit = -1n] = args;
  if (typeof separator !== 'string' || typeof limit !== 'bigint') return noSuchOverload;
  if (limit === 0n) return new ArrayList([]);
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0n || BigInt(parts.length) <= limit) return new ArrayList(parts);
  const kept = Number(limit) - 1;
  return new ArrayList([...parts.slice(0, kept), parts.slice(kept).join(separator)]);
}

function join(list: Value | undefined, separator: Value | undefined): Value | Failure {
  if (!(list instanceof ListValue) || typeof separator !== 'string') return noSuchOverload;
  const parts: string[] = [];
  let size = 0;
  for (const item of list) {
    if (item instanceof Failure) return item;
    if (typeof item !== 'string') return noSuchOverload;
    parts.push(item);
    size += item.length + separator.length;
    if (size > maxText) return new Failure('string is too long');
  }
  return parts.join(separator);
}

/** Unicode's white space, as Go's `unicode.IsSpace` has it. */
const space = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const leading = new RegExp(`^${space}`);
const trailing = new RegExp(`${space}$`);

function trim(text: string): string {
  // The end is trimmed by hand, because a pattern at the end of a long run of spaces is quadratic.
  let end = text.length;
  while (end > 0 && trailing.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end).replace(leading, '');
}

const upper = (text: string): string => text.replaceAll(/[a-z]+/g, (run) => run.toUpperCase());
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (run) => run.toLowerCase());

function charAt(text: string, args: readonly Value[], context: CallContext): Value | Failure {
  const [index] = args;
  const own = chars(text, context);
  if (typeof index !== 'bigint') return noSuchOverload;
  if (index < 0n || index > BigInt(own.length)) return new Failure(`index out of range: ${index}`);
  return own[Number(index)] ?? '';
}

/** The strings of cel-go and of its extension, version 2. */
export function stringLibrary(): readonly FunctionEntry[] {
  const regexes = new RegexCache();
  const matches = withText((text, pattern, { meter }) => {
    const expression = regexes.get(pattern);
    if (expression instanceof Failure) return expression;
    meter.toil(Math.ceil((text.length * expression.programSize()) / 16));
    return expression.test(text);
  });
  return [
    member(
      'startsWith',
      'starts_with_string',
      '(string): bool',
      withText((text, other) => text.startsWith(other)),
    ),
    member(
      'endsWith',
      'ends_with_string',
      '(string): bool',
      withText((text, other) => text.endsWith(other)),
    ),
    member(
      'contains',
      'contains_string',
      '(string): bool',
      withText((text, other) => text.includes(other)),
    ),
    { name: 'matches', id: 'matches', type: '(string, string): bool', call: onText(matches) },
    member('matches', 'matches_string', '(string): bool', matches),
    member('charAt', 'string_char_at_int', '(int): string', charAt),
    member('indexOf', 'string_index_of_string', '(string): int', (text, args, context) =>
      indexOf(text, args, false, context),
    ),
    member('indexOf', 'string_index_of_string_int', '(string, int): int', (text, args, context) =>
      indexOf(text, args, false, context),
    ),
    member('lastIndexOf', 'string_last_index_of_string', '(string): int', (text, args, context) =>
      indexOf(text, args, true, context),
    ),
    member('lastIndexOf', 'string_last_index_of_string_int', '(string, int): int', (text, args, context) =>
      indexOf(text, args, true, context),
    ),
    member('lowerAscii', 'string_lower_ascii', '(): string', lower),
    member('upperAscii', 'string_upper_ascii', '(): string', upper),
    member('replace', 'string_replace_string_string', '(string, string): string', replace),
    member('replace', 'string_replace_string_string_int', '(string, string, int): string', replace),
    member('split', 'string_split_string', '(string): list(string)', split),
    member('split', 'string_split_string_int', '(string, int): list(string)', split),
    member('substring', 'string_substring_int', '(int): string', substring),
    member('substring', 'string_substring_int_int', '(int, int): string', substring),
    member('trim', 'string_trim', '(): string', trim),
    member('format', 'string_format', '(list(dyn)): string', (text, [args], { meter }) =>
      args instanceof ListValue ? formatText(text, args, meter) : noSuchOverload,
    ),
    { name: 'strings.quote', id: 'strings_quote', type: '(string): string', call: onText((text) => quoteText(text)) },
    { name: 'join', id: 'list_join', type: 'list(string).(): string', call: ([list]) => join(list, '') },
    {
      name: 'join',
      id: 'list_join_string',
      type: 'list(string).(string): string',
      call: ([list, separator]) => join(list, separator),
    },
  ];
}
