import { decode, encode } from '@jridgewell/sourcemap-codec';
import type { SourceMapSegment } from '@jridgewell/sourcemap-codec';

/** The used part of a source map, version 3. */
interface SourceMap {
  readonly version: number;
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
  readonly names?: readonly string[];
  readonly mappings: string;
}

/**
 * A source map of the project's own files alone. Node reads the whole map at the start and keeps it. The map of an
 * operator with its libraries takes 18 MB of memory, and more for a moment. A position in a library is marked as having
 * no source, so that it is not taken for a line of the file before.
 *
 * @param text the source map of a bundle, as JSON
 */
export function ownSourceMap(text: string): string {
  const map = JSON.parse(text) as SourceMap;
  const own = kept(map.sources.map((source) => !/(^|[\\/])node_modules[\\/]/.test(source)));
  const lines = decode(map.mappings);
  const used = new Array<boolean>(map.names?.length ?? 0).fill(false);
  for (const segment of lines.flat()) if (segment.length === 5 && own.has(segment[1])) used[segment[4]] = true;
  const names = kept(used);
  let isMapped = false;
  const placed = (segment: SourceMapSegment): readonly SourceMapSegment[] => {
    const [column, source, line, originalColumn, name] = segment;
    const place = source === undefined ? undefined : own.get(source);
    if (place === undefined || line === undefined || originalColumn === undefined) {
      const isFirst = isMapped;
      isMapped = false;
      return isFirst ? [[column]] : [];
    }
    isMapped = true;
    const called = name === undefined ? undefined : names.get(name);
    return [
      called === undefined ? [column, place, line, originalColumn] : [column, place, line, originalColumn, called],
    ];
  };
  return JSON.stringify({
    ...map,
    sources: map.sources.filter((_, place) => own.has(place)),
    ...(map.sourcesContent === undefined
      ? {}
      : { sourcesContent: map.sourcesContent.filter((_, place) => own.has(place)) }),
    names: (map.names ?? []).filter((_, place) => names.has(place)),
    mappings: encode(lines.map((line) => line.flatMap(placed))),
  });
}

/** The new places of what is kept of a list, by the old ones. */
function kept(isKept: readonly boolean[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  for (const [place, stays] of isKept.entries()) if (stays) places.set(place, places.size);
  return places;
}
