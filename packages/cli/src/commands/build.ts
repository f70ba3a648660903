import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { readProject, shownPath } from '../project.js';

/** Options of {@link bundle}. */
export interface BuildOptions {
  readonly main?: string;
  /** The file to write. @default dist/main.mjs */
  readonly outfile?: string;
  /** Makes the file as small as it can be; its source map stays beside it. @default true */
  readonly minify?: boolean;
}

/** A module of CommonJS in the bundle asks for `require`. */
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Writes the operator and everything that it imports as one file, for the image. A kubeconfig is not read in a pod, so
 * that what reads one stays outside.
 *
 * @throws CliError where the module is not there, or cannot be bundled
 */
export async function bundle(
  io: CliIo,
  { outfile = 'dist/main.mjs', minify = true, main }: BuildOptions,
): Promise<void> {
  const project = readProject(io.cwd, main === undefined ? {} : { main });
  const shown = shownPath(project.folder, project.main);
  if (!existsSync(project.main)) throw new CliError(`${shown} does not exist: name the module by --main`);
  const { build } = await import('esbuild');
  const target = resolve(project.folder, outfile);
  try {
    const { warnings } = await build({
      absWorkingDir: project.folder,
      entryPoints: [project.main],
      outfile: target,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node22',
      sourcemap: true,
      minify,
      external: ['@kctl/kubeconfig'],
      banner: { js: banner },
      logLevel: 'silent',
    });
    for (const { text, location } of warnings) io.err(`${location?.file ?? shown}:${location?.line ?? 0}: ${text}\n`);
  } catch (error) {
    throw new CliError(`${shown} cannot be bundled: ${problemsOf(error)}`, { cause: error });
  }
  io.out(`wrote ${shownPath(project.folder, target)}\n`);
}

/** What esbuild objects to, a place and a reason each. */
function problemsOf(error: unknown): string {
  const problems: unknown = error instanceof Error && 'errors' in error ? error.errors : undefined;
  if (!Array.isArray(problems) || problems.length === 0) return error instanceof Error ? error.message : String(error);
  return (problems as { text: string; location: { file: string; line: number } | null }[])
    .map(({ text, location }) => (location === null ? text : `${location.file}:${location.line}: ${text}`))
    .join('; ');
}
