import { posix } from 'node:path';

/** How much of two files has to be the same for one to be the other under a new name; that of git is half. */
const leastSimilarity = 0.6;

/** The file contents of two releases, by path. */
export interface ReleaseFiles {
  readonly base: Readonly<Record<string, string>>;
  readonly next: ReadonlyMap<string, string>;
}

/**
 * The files that have another path in a newer release, by that path. A removed file is matched with the new file of the
 * same extension with which it has the most lines in common, if these are most of its lines.
 */
export function findRenames({ base, next }: ReleaseFiles): ReadonlyMap<string, string> {
  const gone = Object.keys(base).filter((path) => !next.has(path));
  const added = [...next].filter(([path]) => base[path] === undefined);
  const pairs = gone
    .flatMap((from) =>
      added
        .filter(([to]) => endingOf(to) === endingOf(from))
        .map(([to, text]) => ({ from, to, similarity: similarityOf(base[from] ?? '', text) })),
    )
    .filter(({ similarity }) => similarity >= leastSimilarity)
    .sort((left, right) => right.similarity - left.similarity);
  const renames = new Map<string, string>();
  const taken = new Set<string>();
  for (const { from, to } of pairs) {
    if (taken.has(from) || renames.has(to)) continue;
    taken.add(from);
    renames.set(to, from);
  }
  return renames;
}

/** `.test.ts`; of a file that begins with a dot what follows it. */
function endingOf(path: string): string {
  const name = posix.basename(path);
  return name.slice(Math.max(name.indexOf('.', 1), 0));
}

/** From 0 to 1: lines in common, each counted as often as both have it. */
function similarityOf(left: string, right: string): number {
  const [mine, theirs] = [left, right].map(linesOf);
  if (mine === undefined || theirs === undefined || mine.length + theirs.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const line of mine) counts.set(line, (counts.get(line) ?? 0) + 1);
  const common = theirs.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count > 0;
  });
  return (2 * common.length) / (mine.length + theirs.length);
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
