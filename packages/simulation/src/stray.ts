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
  /\bSlabMemory\.leave\b/,
  /[/\\]node_modules[/\\](?!@kctl[/\\])/,
];

/** The caller, from a stack. Undefined for code that may call. */
export function callerOf(stack: string): string | undefined {
  const found = find(stack);
  return found === 'allowed' || found === undefined ? undefined : found.caller;
}

/** Undefined if all frames only pass the call on. */
function find(stack: string): { readonly caller: string } | 'allowed' | undefined {
  for (const line of stack.split('\n').slice(1)) {
    if (isAllowed.some((pattern) => pattern.test(line))) return 'allowed';
    if (passesOn.some((pattern) => pattern.test(line))) continue;
    return { caller: shorten(line.trim().replace(/^at /, '')) };
  }
  return undefined;
}

/** Nearly every caller is among the first frames; who called Node's own code may be far up. */
const nearFrames = 12;
const allFrames = 60;

/** The caller of the current code. Undefined for code that may call. */
export function callerOfNow(): string | undefined {
  const near = stackOf(nearFrames);
  return callerOf(find(near) === undefined ? stackOf(allFrames) : near);
}

function stackOf(frames: number): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = frames;
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
