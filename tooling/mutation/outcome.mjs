/**
 * @typedef {{ id: string, file: string, line: number, mutator: string, original: string, replacement: string }} Mutant
 * @typedef {Omit<Mutant, 'id'>} Survivor
 * @typedef {{ file: string, original: string, replacement: string, reason: string }} Explanation a mutant that no test
 *   can notice, or that is noticed outside of the package, with the reason
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
  for (const { id, ...mutant } of mutants) {
    if (verdict.killed.has(id)) killed++;
    else if (verdict.static.has(id)) continue;
    else {
      const found = explanations.find(
        ({ file, original, replacement }) =>
          file === mutant.file && original === mutant.original && replacement === mutant.replacement,
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
