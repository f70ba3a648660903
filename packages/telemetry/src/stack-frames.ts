import { property } from './message-of.js';

/** The frames of an error's stack. */
export interface StackFrames {
  /** All frames, as V8 prints them. */
  readonly all: readonly string[];
  /** The same with runs of frames of @kctl and of Node folded into a line each. */
  readonly folded: readonly string[];
  /** Number of frames that are neither @kctl's nor Node's. */
  readonly foreign: number;
}

/** Reads the frames of an error; none if it has no readable stack. */
export function framesOf(error: unknown): StackFrames {
  const stack = property(error, 'stack');
  const all = typeof stack === 'string' ? linesBelowMessage(stack, property(error, 'message')) : [];
  const folded: string[] = [];
  let foreign = 0;
  let hidden: string[] = [];
  const fold = (): void => {
    if (hidden.length > 0) folded.push(`    ... ${summaryOf(hidden)}`);
    hidden = [];
  };
  for (const line of all) {
    const origin = originOf(line);
    if (origin !== undefined) {
      hidden.push(origin);
      continue;
    }
    fold();
    folded.push(line);
    foreign += 1;
  }
  fold();
  return { all, folded, foreign };
}

/** A message can contain lines that look like frames. */
function linesBelowMessage(stack: string, message: unknown): string[] {
  const start = typeof message === 'string' && message !== '' ? stack.indexOf(message) : -1;
  const below = start === -1 || typeof message !== 'string' ? stack : stack.slice(start + message.length);
  return below.split('\n').filter((line) => /^\s+at /.test(line));
}

function summaryOf(origins: readonly string[]): string {
  const distinct = [...new Set(origins)];
  return `${origins.length} ${origins.length === 1 ? 'frame' : 'frames'} in ${distinct.join(', ')}`;
}

/** The package of @kctl, or Node, that a frame belongs to; undefined for all other code. */
function originOf(line: string): string | undefined {
  if (/[( ]node:/.test(line)) return 'node';
  const installed = /[\\/]node_modules[\\/]@kctl[\\/]([^\\/]+)[\\/]/.exec(line);
  if (installed !== null) return `@kctl/${installed[1] ?? ''}`;
  if (workspace === undefined || !line.includes(workspace)) return undefined;
  const own = /^([^/]+)\/(?:src|dist)\//.exec(line.slice(line.indexOf(workspace) + workspace.length));
  return own === null || /\.test\.[cm]?[jt]s[:)]/.test(line) ? undefined : `@kctl/${own[1] ?? ''}`;
}

/** The folder of packages if this file runs in kctl's own workspace; undefined in bundled and installed code. */
const workspace = workspaceOf(import.meta.url);

function workspaceOf(url: string): string | undefined {
  const place = /^(?:file:\/\/)?(.*\/packages\/)telemetry\/(?:src|dist)\//.exec(url);
  return place?.[1] === undefined ? undefined : decodeURI(place[1]);
}
