/**
 * A sentence for each option that is not known, naming the nearest one that is: `unknown option "metricServer": did you
 * mean "metricsServer"?`. Options whose value is undefined are not given. For plain JavaScript and casts, where a
 * misspelled option would otherwise mean its default.
 *
 * @example
 * unknownOptions({ metricServer: {} }, ['metricsServer', 'health']);
 */
export function unknownOptions(given: object, known: Iterable<string>, prefix = ''): string[] {
  const names = [...known];
  return Object.entries(given)
    .filter(([name, value]) => value !== undefined && !names.includes(name))
    .map(([name]) => {
      const nearest = nearestOf(name, names);
      const hint =
        nearest === undefined ? `expected ${names.toSorted().join(', ')}` : `did you mean ${JSON.stringify(nearest)}?`;
      return `unknown option ${JSON.stringify(prefix + name)}: ${hint}`;
    });
}

/** The most similar name; undefined where none is similar. */
function nearestOf(name: string, candidates: readonly string[]): string | undefined {
  const [nearest] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** How many letters have to be added, removed or replaced (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, letter] of Array.from(a).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(b).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
