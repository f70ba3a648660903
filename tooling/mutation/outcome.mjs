/**
 * @typedef {{ file: string, line: number, mutator: string, original: string, replacement: string }} Survivor
 * @typedef {{ file: string, original: string, replacement: string, reason: string }} Explanation a mutant that no test
 *   can notice, or that is noticed outside of the package, with the reason
 * @typedef {{ files: Record<string, { source: string, mutants: { status: string, mutatorName: string, replacement?: string,
 *   location: { start: Place, end: Place } }[] }> }} Report Stryker's
 * @typedef {{ line: number, column: number }} Place
 */

/**
 * Counts a report. A mutant that ends in a timeout counts as killed, one that no test reaches has survived, and one with an
 * explanation counts in neither.
 *
 * @param {Report} report
 * @param {readonly Explanation[]} explanations
 */
export function outcome(report, explanations) {
  let killed = 0;
  let explained = 0;
  /** @type {Survivor[]} */
  const survivors = [];
  /** @type {Set<Explanation>} */
  const unused = new Set(explanations);
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    const lines = source.split('\n');
    for (const { status, mutatorName, replacement = '', location } of mutants) {
      if (status === 'Killed' || status === 'Timeout' || status === 'RuntimeError') killed++;
      if (status !== 'Survived' && status !== 'NoCoverage') continue;
      const original = between(lines, location.start, location.end);
      const found = explanations.find(
        (each) => each.file === file && each.original === original && each.replacement === replacement,
      );
      if (found === undefined)
        survivors.push({ file, line: location.start.line, mutator: mutatorName, original, replacement });
      else {
        explained++;
        unused.delete(found);
      }
    }
  }
  const counted = killed + survivors.length;
  const score = counted === 0 ? 100 : Math.floor((1000 * killed) / counted) / 10;
  const stale = [...unused].map(({ file, original, replacement }) => `${file}: ${original} → ${replacement}`);
  return { killed, survived: survivors.length, explained, score, survivors, stale };
}

/** @param {readonly string[]} lines @param {Place} start @param {Place} end */
function between(lines, start, end) {
  const part = lines.slice(start.line - 1, end.line);
  part[part.length - 1] = (part.at(-1) ?? '').slice(0, end.column - 1);
  part[0] = (part[0] ?? '').slice(start.column - 1);
  return part.join('\n').replace(/\s+/g, ' ').slice(0, 160);
}
