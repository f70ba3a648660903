import { messageOf } from '@kctl/telemetry/internal';

/**
 * The replacement for the message of a SyntaxError, because V8 quotes the source that failed to parse, which may be
 * secret.
 */
const withheld = 'a text could not be parsed';

/** The message of anything that was thrown, for an answer; that of a SyntaxError is withheld. Never throws. */
export function safeMessageOf(error: unknown): string {
  return isA(SyntaxError, error) ? withheld : messageOf(error);
}

/**
 * Returns the error for a log, unchanged or, if a SyntaxError is among its causes, as a copy that quotes nothing. Never
 * throws.
 */
export function safeError(error: unknown): unknown {
  const chain = causesOf(error);
  if (!chain.some((link) => isA(SyntaxError, link))) return error;
  return chain.reduceRight<Error | undefined>((cause, link) => {
    const copy = new Error(safeMessageOf(link), cause === undefined ? {} : { cause });
    const [name, stack] = [textOf(link, 'name') ?? 'Error', textOf(link, 'stack')];
    copy.name = name;
    const frames = stack?.indexOf('\n    at ') ?? -1;
    copy.stack = `${name}: ${copy.message}${frames < 0 ? '' : (stack?.slice(frames) ?? '')}`;
    return copy;
  }, undefined);
}

/** An error and its causes, each once, as far as they can be read. */
export function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let link = error; isA(Error, link) && !chain.includes(link); link = memberOf(link, 'cause')) chain.push(link);
  return chain;
}

/** `instanceof`, which a proxy may make throw. */
export function isA<T>(type: abstract new (...args: never) => T, value: unknown): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

function textOf(error: Error, name: 'name' | 'stack'): string | undefined {
  const value = memberOf(error, name);
  return typeof value === 'string' ? value : undefined;
}

/** A member, undefined if its getter throws. */
export function memberOf(error: Error, name: 'name' | 'stack' | 'cause'): unknown {
  try {
    return error[name];
  } catch {
    return undefined;
  }
}
