// Type-checks every ```ts block of the READMEs, of the guides and of the API reference (`@example` in TSDoc) against the
// packages. A block is a module of its own.
// A block that only shows a fragment is marked ```ts fragment and is skipped; there should be few.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiSources, blocksOf, documents, examplesOf } from './docs/documents.mjs';

const target = 'tooling/doc-snippets/extracted';
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

const known = new Set(['fragment', 'program', 'recipe']);
const all = documents();
const sources = apiSources();
/** @type {Map<string, string>} extracted file → where it stands */
const origin = new Map();
for (const document of [...all, ...sources]) {
  const folder = document.replace(/[^A-Za-z0-9]+/g, '-');
  for (const { language, marks, title, text, line } of document.endsWith('.ts')
    ? examplesOf(document)
    : blocksOf(document)) {
    if (language !== 'ts') continue;
    const unknown = marks.filter((mark) => !known.has(mark));
    if (unknown.length > 0) {
      console.error(
        `${document}:${line}: unknown mark ${JSON.stringify(unknown[0])}: expected ${[...known].join(' or ')}`,
      );
      process.exitCode = 1;
    }
    if (marks.includes('fragment')) continue;
    // Blocks with a title are files that import one another: they share a folder. A later one replaces an earlier one.
    const name = title === undefined ? `${folder}-${line}.ts` : join(folder, title);
    mkdirSync(join(target, folder), { recursive: true });
    writeFileSync(join(target, name), `${text}\nexport {};\n`);
    origin.set(name, `${document}:${line}`);
  }
}
writeFileSync(
  join(target, 'tsconfig.json'),
  JSON.stringify({
    extends: '@kctl/tsconfig/base.json',
    compilerOptions: {
      noEmit: true,
      isolatedDeclarations: false,
      declaration: false,
      declarationMap: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      allowImportingTsExtensions: true,
    },
    include: ['**/*.ts'],
  }),
);
const nativeCompiler = 'tooling/tsconfig/node_modules/typescript-native/bin/tsc';
if (origin.size > 0) {
  const result = spawnSync(process.execPath, [nativeCompiler, '-p', target], { encoding: 'utf8' });
  const located = (result.stdout + result.stderr).replace(
    /\S*?extracted\/([\w./-]+\.ts)\((\d+),(\d+)\)/g,
    (whole, file, line, column) =>
      origin.has(file) ? `${origin.get(file)} (line ${line} of the block, column ${column})` : whole,
  );
  if (result.status !== 0) console.error(located);
  process.exitCode ||= result.status ?? 1;
}
console.log(
  `${origin.size} code blocks in ${all.length} documents and the sources of ${readdirSync('packages').length} packages`,
);
