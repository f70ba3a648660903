// Runs every recipe of the documentation (```ts recipe), all in this process, one after the other, and compares what each
// prints with the ```text output block after it. Start it with --import ./scripts/typescript.mjs --conditions=@kctl/source.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { blocksOf, guides } from './documents.mjs';

const maxLines = 40;
const cache = join('tooling', 'doc-snippets', '.cache');

/** @typedef {{ where: string, text: string, expected: string | undefined }} Recipe */

/** Of the pages in docs/recipes. @returns {Recipe[]} */
function recipes() {
  return guides(join('docs', 'recipes')).flatMap((document) => {
    const blocks = blocksOf(document);
    return blocks.flatMap(({ marks, text, line }, index) => {
      if (!marks.includes('recipe')) return [];
      const next = blocks[index + 1];
      return [
        {
          where: `${document}:${line}`,
          text,
          expected: next?.marks.includes('output') === true ? next.text : undefined,
        },
      ];
    });
  });
}

/** @param {Recipe} recipe @param {string} file @returns {Promise<string | undefined>} what is wrong */
async function run({ text, expected }, file) {
  const lines = text.trimEnd().split('\n').length;
  if (lines > maxLines) return `it has ${lines} lines: at most ${maxLines} fit on a screen`;
  if (expected === undefined) return 'there is no `text output` block after it';
  writeFileSync(file, text);
  const log = console.log;
  let output = '';
  console.log = (...values) => (output += `${format(...values)}\n`);
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    return `it failed: ${error instanceof Error ? error.stack : String(error)}`;
  } finally {
    console.log = log;
  }
  return output === expected ? undefined : `it printed\n${output}instead of\n${expected}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const only = process.argv[2];
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'recipes-'));
  const chosen = recipes().filter(({ where }) => only === undefined || where.includes(only));
  try {
    for (const [index, recipe] of chosen.entries()) {
      const problem = await run(recipe, join(folder, `recipe-${index}.ts`));
      if (problem === undefined) continue;
      console.error(`${recipe.where}: ${problem}`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${chosen.length} recipes run in ${(process.cpuUsage().user / 1e6).toFixed(1)} s of CPU`);
}
