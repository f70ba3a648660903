import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ file: string, line: number }} Place */

/** Run in a thread that loads the files of the disk, where no mutant is; their tests are of seconds each. */
const inThread = /leader-election$/;
const ofThread = /^src\/worker\/(?:election-thread|guarded-lock|thread)\.ts$/;

/** The files of a package that have behaviour of their own. @param {string} folder */
export function sources(folder) {
  return globSync('src/**/*.ts', { cwd: folder })
    .filter((file) => !(inThread.test(folder) && ofThread.test(file)))
    .filter((file) => !/\.test\.ts$|\/index\.ts$|^src\/(?:conformance|generated)\//.test(file))
    .sort();
}

/**
 * Lines to mutate, drawn with a seed.
 *
 * @param {string} folder of the package
 * @param {readonly string[]} files of it
 * @param {number} count
 * @param {number} seed
 */
export function sample(folder, files, count, seed) {
  const places = files.flatMap((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    return lines.flatMap((line, index) => (isStatement(line) ? [{ file, line: index + 1 }] : []));
  });
  const random = mulberry32(seed);
  for (let at = places.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [places[at], places[other]] = [/** @type {Place} */ (places[other]), /** @type {Place} */ (places[at])];
  }
  return places.slice(0, count);
}

/** A line that has something to mutate: neither a comment nor an import nor a declaration of types. @param {string} line */
function isStatement(line) {
  return (
    /[;{,)]\s*$/.test(line) &&
    !/^\s*(?:\/\/|\/?\*|import\b|export (?:type|interface|\{)|type\b|interface\b|readonly\b|\}|[)\]}])/.test(line)
  );
}

/** @param {number} seed */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
