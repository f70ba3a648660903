/**
 * The message of anything that was thrown: the message of an Error, a text itself, otherwise a short description.
 * Does not throw, whatever the value is: values without a prototype, with getters that throw, or revoked proxies.
 */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  const message = typeof thrown === 'function' ? undefined : property(thrown, 'message');
  if (typeof message === 'string') return message;
  if (typeof thrown === 'object' && thrown !== null) return described(thrown);
  if (typeof thrown === 'function') {
    const name = functionName(thrown);
    return name === '' ? 'a function' : `function ${name}`;
  }
  return String(thrown);
}

/** The name of a function; '' where it has none, or none that is a text, or one that cannot be read. */
export function functionName(value: object): string {
  const name = property(value, 'name');
  return typeof name === 'string' ? name : '';
}

/** The value of a property, or undefined where reading it throws. */
export function property(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

/** What kind of object it is and the names of its properties; values may be secret and do not appear. */
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
