import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';

/**
 * @typedef {import('./outcome.mjs').Mutant} Mutant
 * @typedef {{ file: string, line?: number }} Target a file of the package, or one of its lines
 */

const quiet = () => false;
/** The wording of messages and the shape of tables is not what these tests are for. */
const excludedMutations = ['StringLiteral', 'ObjectLiteral', 'Regex'];
const silent = {
  isTraceEnabled: quiet,
  isDebugEnabled: quiet,
  isInfoEnabled: quiet,
  isWarnEnabled: quiet,
  isErrorEnabled: quiet,
  isFatalEnabled: quiet,
  trace: quiet,
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
  fatal: quiet,
};

/**
 * Puts every mutant of the targets into the source of its file, behind a switch that is off. The files on the disk stay as
 * they are.
 *
 * @param {string} folder of the package
 * @param {readonly Target[]} targets
 * @returns {Promise<{ sources: Record<string, string>, mutants: Mutant[] }>} the sources by absolute path
 */
export async function instrument(folder, targets) {
  /** @type {Map<string, number[]>} */
  const lines = new Map();
  for (const { file, line } of targets)
    lines.set(file, [...(lines.get(file) ?? []), ...(line === undefined ? [] : [line])]);
  const files = [...lines].map(([file, only]) => ({
    name: join(folder, file),
    content: readFileSync(join(folder, file), 'utf8'),
    mutate:
      only.length === 0 ||
      only.map((line) => ({ start: { line: line - 1, column: 0 }, end: { line: line - 1, column: 1e6 } })),
  }));
  const result = await new Instrumenter(silent).instrument(files, { plugins: null, excludedMutations, ignorers: [] });
  return {
    sources: Object.fromEntries(result.files.map(({ name, content }) => [name, content])),
    mutants: result.mutants
      .filter(({ status }) => status !== 'Ignored')
      .filter(({ fileName, mutatorName, location }) => {
        const content = files.find(({ name }) => name === fileName)?.content ?? '';
        return mutatorName !== 'BooleanLiteral' || !optionLines(content).has(location.start.line);
      })
      .map(({ id, fileName, mutatorName, replacement, location }) => ({
        id,
        file: fileName.slice(folder.length + 1),
        mutator: mutatorName,
        line: location.start.line + 1,
        at:
          files
            .find(({ name }) => name === fileName)
            ?.content.split('\n')
            [location.start.line]?.trim() ?? '',
        original: between(files.find(({ name }) => name === fileName)?.content.split('\n') ?? [], location),
        replacement,
      })),
  };
}

/**
 * The lines of tables of options, counted from 0. A table is for its names: the value of one that has no check is never
 * read.
 *
 * @param {string} content of a file
 */
function optionLines(content) {
  /** @type {Set<number>} */
  const found = new Set();
  let isInside = false;
  for (const [index, line] of content.split('\n').entries()) {
    isInside ||= /\bOptionNames<.*= \{/.test(line);
    if (isInside) found.add(index);
    if (/^\}|\};$/.test(line)) isInside = false;
  }
  return found;
}

/** @param {readonly string[]} lines @param {{ start: Place, end: Place }} location @typedef {{ line: number, column: number }} Place */
function between(lines, { start, end }) {
  const part = lines.slice(start.line, end.line + 1);
  part[part.length - 1] = (part.at(-1) ?? '').slice(0, end.column);
  part[0] = (part[0] ?? '').slice(start.column);
  return part.join('\n').replace(/\s+/g, ' ').slice(0, 160);
}
