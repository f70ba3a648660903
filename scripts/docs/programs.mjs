// Runs every complete program of the documentation (```ts program) in a process of its own and compares what it prints
// with the ```text output block that follows it: its lines occur in the output, in their order; `…` stands for any text.
// All are bundled at once, with the packages' sources in chunks that they share, because a process that strips the types
// of these sources itself takes four times as long as the program. Most run in one process; one that fails there is run in a
// process of its own, and one that fails in this form from the sources, and the last run counts.
import { fork, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { blocksOf, documents } from './documents.mjs';

const cache = join('tooling', 'doc-snippets', '.cache');
const timeLimitMs = 120_000;

/** @param {string} output @param {string} expected @returns {string | undefined} the first line that is missing */
export function missingLine(output, expected) {
  const lines = output.split('\n');
  let from = 0;
  for (const line of expected.split('\n').filter((text) => text.trim() !== '')) {
    const pattern = new RegExp(`^${line.trimEnd().split('…').map(escapeRegExp).join('.*')}\\s*$`);
    const found = lines.findIndex((text, index) => index >= from && pattern.test(text));
    if (found < 0) return line;
    from = found + 1;
  }
  return undefined;
}

const escapeRegExp = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const { build } = createRequire(new URL('../../packages/cli/package.json', import.meta.url))('esbuild');

/** @typedef {{ document: string, line: number, expected: string | undefined, file: string, text: string }} Program */

/**
 * Writes the programs of a document, each with the files beside it, into folders of their own.
 * @param {string} document @param {string} folder @returns {Program[]}
 */
function writePrograms(document, folder) {
  const blocks = blocksOf(document);
  return blocks.flatMap(({ marks, title, text, line }, index) => {
    if (!marks.includes('program')) return [];
    const next = blocks.slice(index + 1).find(({ language }) => language !== 'sh');
    const place = join(folder, `${document.replace(/\W+/g, '-')}-${line}`);
    mkdirSync(place);
    for (const { title: name, text: content } of blocks)
      if (name !== undefined) writeFileSync(join(place, name), content);
    const file = join(place, title ?? 'program.ts');
    writeFileSync(file, text);
    return [{ document, line, expected: next?.marks.includes('output') === true ? next.text : undefined, file, text }];
  });
}

/**
 * Bundles the modules of a folder. Those that a program imports are files of their own, so that `import.meta.url` of an
 * operator is not that of the program.
 * @param {string} folder @param {string} outdir
 */
async function bundle(folder, outdir) {
  await build({
    entryPoints: globSync(join(folder, '*', '*.ts')),
    outbase: folder,
    outdir,
    sourcemap: 'linked',
    sourcesContent: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    conditions: ['@kctl/source'],
    external: ['vitest'],
    banner: {
      js: "import { createRequire as requireIn } from 'node:module'; const require = requireIn(import.meta.url);",
    },
    logLevel: 'error',
  });
}

/** @param {string[]} args of node @returns {Promise<{ code: number | null, output: string }>} */
function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeLimitMs,
      killSignal: 'SIGKILL',
      env: { ...process.env, NO_COLOR: '1', NODE_COMPILE_CACHE: join('.cache', 'compiled') },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** What replaces what is global, or prints at its end, is run alone. @param {Program} program */
const isAlone = ({ text }) => /node:test|@kctl\/simulation|\bprocess\./.test(text);

/**
 * Runs bundles in one process. None counts if it does not end by itself.
 * @param {string[]} files @returns {Promise<Map<string, { code: number | null, output: string }>>}
 */
function runTogether(files) {
  return new Promise((resolve) => {
    /** @type {Map<string, { code: number, output: string }>} */
    const results = new Map();
    const host = join(import.meta.dirname, 'program-host.mjs');
    const child = fork(host, files, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: timeLimitMs,
      killSignal: 'SIGKILL',
    });
    child.on('message', ({ file, code, output }) => results.set(file, { code, output }));
    child.once('close', (code) => resolve(code === 0 ? results : new Map()));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const only = process.argv[2];
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'docs-'));
  try {
    const programs = documents()
      .filter((file) => only === undefined || file.includes(only))
      .flatMap((document) => writePrograms(document, folder));
    const bundles = join(folder, 'bundles');
    await bundle(folder, bundles);
    const bundleOf = (/** @type {Program} */ { file }) =>
      join(bundles, relative(folder, file).replace(/\.ts$/, '.mjs'));
    const together = await runTogether(programs.filter((each) => !isAlone(each)).map(bundleOf));
    for (const program of programs) {
      const { document, line, expected, file, text } = program;
      const problem = (/** @type {{ code: number | null, output: string }} */ { code, output }) => {
        if (code !== 0) return `exit code ${code}\n${output}`;
        if (expected === undefined) return 'the program has no `text output` block after it';
        const missing = missingLine(output, expected);
        return missing === undefined ? undefined : `the output lacks ${JSON.stringify(missing)}\n${output}`;
      };
      // The simulation tells code of packages from code of the author by its path.
      const maps = text.includes('@kctl/simulation') ? ['--enable-source-maps'] : [];
      let result = together.get(bundleOf(program));
      if (result === undefined || problem(result) !== undefined) result = await run([...maps, bundleOf(program)]);
      if (problem(result) !== undefined)
        result = await run(['--import', './scripts/typescript.mjs', '--conditions=@kctl/source', file]);
      if (only !== undefined) console.log(result.output);
      const found = problem(result);
      if (found === undefined) continue;
      console.error(`${document}:${line}: ${found}`);
      process.exitCode = 1;
    }
    console.log(`${programs.length} programs of the documentation run`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
