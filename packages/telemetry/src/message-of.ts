/** End of V8's messages that quote invalid JSON. */
const quoteEnd = ' is not valid JSON';
const quotes: readonly (readonly [RegExp, string])[] = [
  [
    /Unexpected token '[^']*'?, (?:\.\.\.)?"[\s\S]*?"(?:\.\.\.)? is not valid JSON/g,
    'Unexpected token: the text is not valid JSON',
  ],
  [/(?:\.\.\.)?"[^"]*"(?:\.\.\.)? is not valid JSON/g, 'the text is not valid JSON'],
];

/** The password of a URL within a string. */
const urlPassword = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@"'<>]*):[^\s/@"'<>]+@/gi;

/**
 * A string without parts that may be secret, which are V8's quotes of JSON that is not valid, and passwords in URLs.
 * Every string that reaches a log, an error or a span goes through it.
 */
export function withoutSecrets(text: string): string {
  const shown = text.includes('://') && text.includes('@') ? text.replace(urlPassword, '$1:[redacted]@') : text;
  if (!shown.includes(quoteEnd)) return shown;
  return quotes.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), shown);
}

/**
 * The message of anything that was thrown, which is the message of an Error, a string itself, otherwise a short
 * description. Does not throw, even for values without a prototype, with getters that throw, or revoked proxies. V8's
 * quotes of JSON that is not valid, and passwords in URLs, are left out, because they may be secret.
 */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return withoutSecrets(thrown);
  const message = typeof thrown === 'function' ? undefined : property(thrown, 'message');
  if (typeof message === 'string') return withoutSecrets(message);
  if (typeof thrown === 'object' && thrown !== null) return described(thrown);
  if (typeof thrown === 'function') {
    const name = functionName(thrown);
    return name === '' ? 'a function' : `function ${name}`;
  }
  return String(thrown);
}

/** The name of a function; '' if it has no name, or one that is not a string, or one that cannot be read. */
export function functionName(value: object): string {
  const name = property(value, 'name');
  return typeof name === 'string' ? name : '';
}

/** The value of a property, or undefined if reading it throws. */
export function property(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

/** Kind of an object and the names of its properties; values may be secret and do not appear. */
function described(value: object): string {
  try {
    const tag = Object.prototype.toString.call(value);
    if (tag !== '[object Object]') return tag;
    const print: unknown = Reflect.get(value, 'toString');
    const text: unknown =
      typeof print === 'function' && print !== Object.prototype.toString ? Reflect.apply(print, value, []) : undefined;
    if (typeof text === 'string') return text;
    const keys = Object.keys(value);
    return keys.length === 0 ? 'an object without properties' : `an object with ${keys.slice(0, 8).join(', ')}`;
  } catch {
    return 'a value that cannot be read';
  }
}
