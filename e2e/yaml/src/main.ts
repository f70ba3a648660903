/**
 * @kctl/yaml beside sigs.k8s.io/yaml: generated scalars and structures, written values, and files.
 * `--scalars N --structures N --values N --seed S --files FOLDER …`. Exit code 1 for a difference that `explained` does not
 * name; the last line counts documents, differences and explained ones.
 */
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isYamlError, readYaml, writeYaml } from '@kctl/yaml';
import { addTotals } from '@kctl/totals';
import { canonical, readByGo } from './oracle.js';
import { Random, scalarDocument, structuredDocument, value } from './random.js';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    scalars: { type: 'string', default: '20000' },
    structures: { type: 'string', default: '10000' },
    values: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '20' },
  },
});

/** The differences of the parsers, each with the reason; README.md of the package lists them. */
const explained: readonly { readonly reason: string; readonly matches: (document: string) => boolean }[] = [
  {
    reason: 'YAML 1.2 allows a colon at the start of a plain scalar in a flow collection',
    matches: (document) => /^(?:\{|\[)/.test(document) && /:/.test(document),
  },
  {
    reason: 'a dash alone in a flow collection',
    matches: (document) => /^(?:\[|\{(?:a: )?)(?:!\S* )?-[\]},:]/.test(document),
  },
  {
    reason: 'YAML 1.2 allows a mapping after a tag or an anchor in the line of its key',
    matches: (document) => /(?:^|: |- )[!&]\S* .*:(?:\s|$)/m.test(document),
  },
  {
    reason: 'each invalid byte of !!binary is one replacement character in Go',
    matches: (document) => document.includes('!!binary'),
  },
];

const random = new Random(Number(values.seed));
const many = (count: string, make: () => string): string[] => Array.from({ length: Number(count) }, make);
const suites: readonly (readonly [string, readonly string[], readonly unknown[] | undefined])[] = [
  ['scalars', many(values.scalars, () => scalarDocument(random)), undefined],
  ['structures', many(values.structures, () => structuredDocument(random)), undefined],
  written(),
  ['files', positionals.flatMap(documentsIn), undefined],
];

function written(): readonly [string, readonly string[], readonly unknown[]] {
  const given = Array.from({ length: Number(values.values) }, () => ({ a: value(random), b: value(random) }));
  return ['written values', given.map((each) => writeYaml(each)), given];
}

function documentsIn(folder: string): string[] {
  return globSync('**/*.{yaml,yml}', { cwd: folder }).flatMap((file) => {
    try {
      return readFileSync(`${folder}/${file}`, 'utf8').split(/^---.*$/m);
    } catch {
      return []; // a link that leads nowhere, a folder of that name
    }
  });
}

let [differences, explainedCount, total] = [0, 0, 0];
for (const [name, documents, given] of suites) {
  if (documents.length === 0) continue;
  const theirs = readByGo(documents);
  let same = 0;
  for (const [index, document] of documents.entries()) {
    const verdict = theirs[index] ?? { error: 'no answer' };
    const go = 'value' in verdict ? verdict.value : 'refused';
    const ours = readByUs(document);
    const wanted = given === undefined ? go : canonical(given[index]);
    if (ours === wanted && go === wanted) same++;
    else if (given === undefined && explained.some(({ matches }) => matches(document))) explainedCount++;
    else if (++differences <= Number(values.show))
      console.log(
        `${name}: ${JSON.stringify(document)}\n  Go:   ${'error' in verdict ? verdict.error : go}\n  ours: ${ours}\n  want: ${wanted}`,
      );
  }
  total += documents.length;
  console.log(`${name}: ${documents.length} documents, ${same} the same`);
}

function readByUs(document: string): string {
  try {
    return canonical(readYaml(document).value);
  } catch (error) {
    if (isYamlError(error)) return 'refused';
    throw error;
  }
}

console.log(`${total} documents, ${differences} differences, ${explainedCount} explained (seed ${values.seed})`);
addTotals({ suite: 'YAML beside Go', passed: total - differences, failed: differences, skipped: 0 });
if (differences > 0 || total === 0) process.exitCode = 1;
