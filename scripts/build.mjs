// Builds every package: bundles each with its own tsup.config.ts, then writes the declarations of all with one compiler.
// The result is that of each package's `build` (`tsup && tsc -b`); started one by one, as `turbo run build` does, the
// package manager, tsup and the compiler take five times as long to start as to build.
// Declarations are not checked for types: `tsc -p tsconfig.json`, which sees the tests too, is a step of its own.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const { resolve } = createRequire(import.meta.url);
const waiting = readdirSync('packages').sort();

/** @param {string} program path of a JavaScript file @param {string[]} args @param {string} cwd @returns {Promise<boolean>} */
function run(program, args, cwd) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [program, ...args], { cwd, stdio: 'inherit' });
    child.once('close', (code) => {
      if (code !== 0) console.error(`build ${cwd}: ${program} exited with ${code}`);
      done(code === 0);
    });
  });
}

async function bundle() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
    if (!(await run(resolve('tsup/dist/cli-default.js'), [], join('packages', name)))) return false;
  return true;
}

const bundled = await Promise.all(Array.from({ length: availableParallelism() }, bundle));
const passed =
  bundled.every(Boolean) && (await run(resolve('typescript/bin/tsc'), ['-b', 'tsconfig.build.json', '--noCheck'], '.'));
process.exitCode = passed ? 0 : 1;
