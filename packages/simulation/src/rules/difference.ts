/** Differences of the final objects from those of the run without faults. */
export function differenceOf(
  state: readonly string[],
  expected: readonly string[],
): { readonly message: string; readonly object: string | undefined } | undefined {
  const here = countLines(state);
  const there = countLines(expected);
  const more = [...here].flatMap(([line, count]) => (count > (there.get(line) ?? 0) ? [line] : []));
  const less = [...there].flatMap(([line, count]) => (count > (here.get(line) ?? 0) ? [line] : []));
  if (more.length + less.length === 0) return undefined;
  const lines = [
    ...more.map((line) => `only with faults:    ${line}`),
    ...less.map((line) => `only without faults: ${line}`),
  ];
  const [object] = (more[0] ?? less[0] ?? '').split(' {');
  return {
    message: `in the end the cluster is not what it is without faults: something was done twice, never, or from memory that a crash lost\n  ${lines.slice(0, 6).join('\n  ')}`,
    object,
  };
}

function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
