/**
 * @typedef {{ id: string, file: string, line: number, at: string, mutator: string, original: string, replacement: string }} Mutant
 *   `at` is its line without the spaces around it
 * @typedef {Omit<Mutant, 'id' | 'at'>} Survivor
 * @typedef {{ file: string, at?: string, original: string, replacement: string, reason: string }} Explanation a mutant that
 *   no test can notice, or that is noticed outside of the package, with the reason; `at` if the file has the original on
 *   several lines
 * @typedef {{ killed: Set<string>, static: Set<string> }} Verdict ids of mutants
 */

/**
 * Counts what the tests found. One that no test reaches has survived; one with an explanation, or whose line runs only while
 * modules load, counts in neither.
 *
 * @param {readonly Mutant[]} mutants
 * @param {Verdict} verdict
 * @param {readonly Explanation[]} explanations
 */
export function outcome(mutants, verdict, explanations) {
  let killed = 0;
  let explained = 0;
  /** @type {Survivor[]} */
  const survivors = [];
  /** @type {Set<Explanation>} */
  const unused = new Set(explanations);
  for (const { id, at: line, ...mutant } of mutants) {
    if (verdict.killed.has(id)) killed++;
    else if (verdict.static.has(id)) continue;
    else {
      const found = explanations.find(
        ({ file, at = line, original, replacement }) =>
          file === mutant.file && at === line && original === mutant.original && replacement === mutant.replacement,
      );
      if (found === undefined) survivors.push(mutant);
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

/**
 * Explanations whose original is on several lines of the file. Without a line, they would explain mutants of which the
 * reason is not true.
 *
 * @param {readonly Explanation[]} explanations
 * @param {(file: string) => string} contentOf
 */
export function ambiguous(explanations, contentOf) {
  return explanations
    .filter(({ file, at, original }) => {
      const lines = contentOf(file)
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.includes(original) && !/^(?:\/\/|\/?\*)/.test(line));
      return at === undefined && new Set(lines).size > 1;
    })
    .map(({ file, original, replacement }) => `${file}: ${original} → ${replacement}`);
}
