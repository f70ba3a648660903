import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTypeCheck } from '../src/dev/check-types.js';

let folder: string;
const printed: string[] = [];
const io = { err: (text: string) => void printed.push(text) };
const never = new AbortController().signal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kctl-types-'));
  printed.length = 0;
  mkdirSync(join(folder, 'node_modules'));
  const compiler = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  symlinkSync(compiler, join(folder, 'node_modules', 'typescript'), 'junction');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const compilerOptions = { strict: true, types: [], lib: ['es2024'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('prints errors of types, again after each change, and once that none are left', async () => {
  const check = createTypeCheck(io, { folder, cache: folder });
  const wrong = 'const spec = { message: 1 };\nexport const text = spec.mesage;\n';
  writeFileSync(join(folder, 'main.ts'), wrong);
  await check.run(never);
  const error = expect.stringMatching(/^types: main\.ts\(2,26\): error TS2551: .*Did you mean 'message'\?\n$/);
  expect(printed.slice(0, 1)).toEqual([error]);
  printed.length = 0;
  await check.run(never);
  expect(printed.slice(0, 1)).toEqual([error]);
  printed.length = 0;
  writeFileSync(join(folder, 'main.ts'), wrong.replace('mesage', 'message'));
  await check.run(never);
  await check.run(never);
  expect(printed.filter((line) => line.includes('error TS') || line.includes('no errors'))).toEqual([
    'types: no errors\n',
  ]);
});

it.each(['node_modules', 'tsconfig.json'])('prints nothing without %s', async (missing) => {
  writeFileSync(join(folder, 'main.ts'), 'const a: string = 1;\n');
  rmSync(join(folder, missing), { recursive: true });
  await createTypeCheck(io, { folder, cache: folder }).run(never);
  expect(printed).toEqual([]);
});

it('prints nothing when it is ended', async () => {
  writeFileSync(join(folder, 'main.ts'), 'const a: string = 1;\n');
  const check = createTypeCheck(io, { folder, cache: folder });
  await check.run(AbortSignal.abort());
  const ending = new AbortController();
  const running = check.run(ending.signal);
  ending.abort();
  await running;
  expect(printed).toEqual([]);
});
