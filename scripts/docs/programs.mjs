// Runs every complete program of the documentation (```ts program) in a process of its own and compares what it prints
// with the ```text output block that follows it: its lines occur in the output, in their order; `…` stands for any text.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** @param {string} file @returns {Promise<{ code: number | null, output: string }>} */
function run(file) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', './scripts/typescript.mjs', '--conditions=@kctl/source', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeLimitMs,
      killSignal: 'SIGKILL',
      env: { ...process.env, NO_COLOR: '1' },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('close', (code) => resolve({ code, output }));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const only = process.argv[2];
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'docs-'));
  let count = 0;
  try {
    for (const document of documents().filter((file) => only === undefined || file.includes(only))) {
      const blocks = blocksOf(document);
      for (const [index, { marks, title, text, line }] of blocks.entries()) {
        if (!marks.includes('program')) continue;
        const next = blocks.slice(index + 1).find(({ language }) => language !== 'sh');
        const expected = next?.marks.includes('output') === true ? next.text : undefined;
        const place = join(folder, String((count += 1)));
        mkdirSync(place);
        for (const { title, text: content } of blocks)
          if (title !== undefined) writeFileSync(join(place, title), content);
        const file = join(place, title ?? 'program.ts');
        writeFileSync(file, text);
        const { code, output } = await run(file);
        const missing = expected === undefined ? undefined : missingLine(output, expected);
        if (only !== undefined) console.log(output);
        if (code === 0 && expected !== undefined && missing === undefined) continue;
        console.error(
          expected === undefined
            ? `${document}:${line}: the program has no \`text output\` block after it`
            : `${document}:${line}: ${code === 0 ? `the output lacks ${JSON.stringify(missing)}` : `exit code ${code}`}\n${output}`,
        );
        process.exitCode = 1;
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${count} programs of the documentation run`);
}
