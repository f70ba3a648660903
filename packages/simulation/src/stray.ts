import { fileURLToPath } from 'node:url';

/** Frames that only pass a call on. */
const passesOn = [
  /\(node:|^\s*at node:|<anonymous>/,
  /[/\\](?:packages|@kctl)[/\\]simulation[/\\](?:dist|src)[/\\]/,
  /[/\\]wait[/\\]src[/\\]system-clock\./,
  /SystemTimer|systemClock|\bObject\.(?:setTimer|now|monotonicNow) /,
];

/**
 * A timer that only keeps the process alive, third-party code, the stack's default randomness, which a manager has no option
 * for, and memory that it uses again are not an author's mistake.
 */
const isAllowed = [
  /\bkeepAlive\b/,
  /\bsystemRandom\b/,
  /\bSlabMemory\.takeBackAfter\b/,
  /[/\\]node_modules[/\\](?!@kctl[/\\])/,
];

/** Who called, from a stack. Undefined: code that may. */
export function callerOf(stack: string): string | undefined {
  for (const line of stack.split('\n').slice(1)) {
    if (isAllowed.some((pattern) => pattern.test(line))) return undefined;
    if (passesOn.some((pattern) => pattern.test(line))) continue;
    return shorten(line.trim().replace(/^at /, ''));
  }
  return undefined;
}

/** The stack of now: who called Node's own code may be far up. */
export function deepStack(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 60;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

function shorten(frame: string): string {
  const text = frame.replace(/file:\/\/[^\s)]+/, (url) => {
    const [, place = ''] = /(:\d+:\d+)$/.exec(url) ?? [];
    return fileURLToPath(url.slice(0, url.length - place.length)) + place;
  });
  return text.replace(`${process.cwd()}/`, '');
}
