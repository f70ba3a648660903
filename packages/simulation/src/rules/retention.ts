import { queryObjects } from 'node:v8';

/** What leaks consist of: work that never ends, and signals with their listeners. */
const counted: readonly { readonly what: string; readonly of: Parameters<typeof queryObjects>[0] }[] = [
  { what: 'promises', of: Promise },
  { what: 'abort signals and other event targets', of: EventTarget },
];

/** By how much a count may grow while nothing moves: a share of it, and so many. */
const growthShare = 0.1;
const mostGrowth = 150;

/** Objects that something still holds, by what they are. It collects the whole heap first. */
export type LiveObjects = ReadonlyMap<string, number>;

/** Counts what is alive in this process. */
export function liveObjects(): LiveObjects {
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = () => undefined; // that queryObjects is experimental, once for each process
  try {
    return new Map(counted.map(({ what, of }) => [what, queryObjects(of, { format: 'count' })]));
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** What has grown since a count, for people; undefined where nothing has grown by much. */
export function growthSince(before: LiveObjects): string | undefined {
  for (const [what, is] of liveObjects()) {
    const was = before.get(what) ?? 0;
    if (is > was * (1 + growthShare) + mostGrowth)
      return `${what} that something holds grew from ${was} to ${is}: what is made for each turn must be given up with it`;
  }
  return undefined;
}
