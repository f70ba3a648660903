import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { CliIo } from '../io.js';

/** Checks the types of a project beside its run, which Node does not: it runs TypeScript without its types. */
export interface TypeCheck {
  /**
   * Checks once and prints the errors, or that there are none left. Resolves when the compiler has ended, at once when
   * the signal is aborted; never rejects.
   */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The check of a project by its own compiler. It does nothing in a project without `tsconfig.json` or without
 * `typescript`.
 */
export function createTypeCheck(
  io: Pick<CliIo, 'err'>,
  { folder, cache }: { readonly folder: string; readonly cache: string },
): TypeCheck {
  let hadErrors = false;
  return {
    run: async (signal) => {
      const compiler = existsSync(join(folder, 'tsconfig.json')) ? findCompiler(folder) : undefined;
      if (compiler === undefined || signal.aborted) return;
      const { code, output } = await outputOf(
        [compiler, '--noEmit', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', join(cache, 'types.json')],
        { folder, signal },
      );
      // A compiler that was ended has checked nothing.
      if (signal.aborted || code === null) return;
      if (code !== 0)
        for (const line of output.split('\n')) if (line.trim() !== '') io.err(`types: ${line.trimEnd()}\n`);
      if (code === 0 && hadErrors) io.err('types: no errors\n');
      hadErrors = code !== 0;
    },
  };
}

/** The program of the project's compiler; undefined if it is not installed. */
function findCompiler(folder: string): string | undefined {
  try {
    const file = createRequire(join(folder, 'package.json')).resolve('typescript/package.json');
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const bin: unknown = typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'bin') : undefined;
    const path: unknown = typeof bin === 'object' && bin !== null ? Reflect.get(bin, 'tsc') : undefined;
    return typeof path === 'string' ? join(dirname(file), path) : undefined;
  } catch {
    return undefined;
  }
}

async function outputOf(
  args: readonly string[],
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<{ readonly code: number | null; readonly output: string }> {
  return await new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], signal });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', () => undefined); // the signal was aborted, or there is no process to start
    child.once('close', (code) => resolve({ code, output }));
  });
}
