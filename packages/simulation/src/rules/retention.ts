// Imports the whole module, because a named import that a runtime lacks, as Bun lacks queryObjects, would keep the
// package from being imported.
import v8 from 'node:v8';

/** Kinds of leaks, which are work that never ends, signals with their listeners, and keys that are never removed. */
const counted: readonly { readonly what: string; readonly count: () => number }[] = [
  { what: 'promises', count: () => v8.queryObjects(Promise, { format: 'count' }) },
  { what: 'abort signals and other event targets', count: () => v8.queryObjects(EventTarget, { format: 'count' }) },
  { what: 'keys of maps and sets', count: () => entriesOf(Map) + entriesOf(Set) },
];

/** Allowed growth of a count while nothing changes, as a share of it plus a constant. */
const growthShare = 0.1;
const mostGrowth = 150;

/** `Map(12) {`, `[Limits(Map)] Map(3) {`, `Names(2) [Set] {`: how the inspector begins an object with entries. */
const entryCount = /^[^({]*\((\d+)\)/;

/** Entries of all maps, or sets, that something holds. */
function entriesOf(type: MapConstructor | SetConstructor): number {
  let sum = 0;
  for (const shown of v8.queryObjects(type, { format: 'summary' })) sum += Number(entryCount.exec(shown)?.[1] ?? 0);
  return sum;
}

/** Objects that something still holds, by what they are. It collects the whole heap first. */
export type LiveObjects = ReadonlyMap<string, number>;

/** Counts what is alive in this process. */
export function liveObjects(): LiveObjects {
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = () => undefined; // that queryObjects is experimental, once for each process
  try {
    return new Map(counted.map(({ what, count }) => [what, count()]));
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Formats what has grown since a count; undefined if nothing has grown by much. */
export function growthSince(before: LiveObjects): string | undefined {
  for (const [what, is] of liveObjects()) {
    const was = before.get(what) ?? 0;
    if (is > was * (1 + growthShare) + mostGrowth)
      return `${what} that something holds grew from ${was} to ${is}: what is made for each turn must be given up with it`;
  }
  return undefined;
}
