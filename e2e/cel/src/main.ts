/**
 * `@kctl/cel` beside the API server's own CEL: a corpus of rules, then generated rules and values.
 *
 * node --import ./scripts/typescript.mjs --conditions=@kctl/source e2e/cel/src/main.ts [--rules N] [--seed N]
 */
import { parseArgs } from 'node:util';
import { compare, type Difference } from './compare.js';
import { corpus, full, schema, texts } from './corpus.js';
import { Generator } from './generate.js';
import { buildOracle, Oracle, type Question } from './oracle.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { rules: { type: 'string', default: '5000' }, seed: { type: 'string', default: '1' } },
});

const oracle = new Oracle(buildOracle());
const oldSelf = { ...full, set: ['y', 'x'], keyed: full.keyed.toReversed(), l: [1] };
const differences: [Question, Difference][] = [];

async function ask(question: Question): Promise<void> {
  const difference = compare(question, await oracle.ask(question));
  if (difference !== undefined) differences.push([question, difference]);
}

for (const rule of corpus) await ask({ schema, rule, self: full, oldSelf });
for (const rule of texts) await ask({ schema, rule, self: full, oldSelf, isText: true });
const generator = new Generator(Number(values.seed));
const count = Number(values.rules);
for (let index = 0; index < count; index++) await ask(generator.question());

for (const [{ rule, self }, { what, theirs, ours }] of differences.slice(0, 40)) {
  console.log(
    `${rule}\n  self: ${JSON.stringify(self)}\n  ${what}\n    kube-apiserver: ${theirs}\n    @kctl/cel:      ${ours}`,
  );
}
console.log(
  `${corpus.length + texts.length} rules of the corpus, ${count} generated (seed ${values.seed}), ${differences.length} differ`,
);
if (differences.length > 0) process.exitCode = 1;
oracle.close();
