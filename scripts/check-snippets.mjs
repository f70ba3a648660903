// Type-checks every ```ts block of the READMEs and guides against the packages. A block is a module of its own.
// A block that only shows a fragment is marked ```ts fragment and is skipped; there should be few.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const target = 'tooling/doc-snippets/extracted';
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

const inFolder = (/** @type {string} */ folder) =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'README.md')) : [];
const guides = existsSync('docs')
  ? readdirSync('docs')
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name))
  : [];
const documents = ['README.md', ...inFolder('packages'), ...inFolder('examples'), ...guides].filter((file) =>
  existsSync(file),
);

/** @type {Map<string, string>} extracted file → where it stands */
const origin = new Map();
for (const document of documents) {
  const text = readFileSync(document, 'utf8');
  for (const match of text.matchAll(/^```ts[ \t]*(fragment)?\n([\s\S]*?)^```/gm)) {
    if (match[1] !== undefined) continue;
    const line = text.slice(0, match.index).split('\n').length + 1;
    const name = `${document.replace(/[^A-Za-z0-9]+/g, '-')}-${line}.ts`;
    writeFileSync(join(target, name), `${match[2] ?? ''}\nexport {};\n`);
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
    },
    include: ['*.ts'],
  }),
);
if (origin.size > 0) {
  const result = spawnSync('tsc', ['-p', target], { encoding: 'utf8', shell: process.platform === 'win32' });
  const located = (result.stdout + result.stderr).replace(
    /\S*?([\w-]+\.ts)\((\d+),(\d+)\)/g,
    (whole, file, line, column) =>
      origin.has(file) ? `${origin.get(file)} (line ${line} of the block, column ${column})` : whole,
  );
  if (result.status !== 0) console.error(located);
  process.exitCode = result.status ?? 1;
}
console.log(`${origin.size} code blocks in ${documents.length} documents`);
