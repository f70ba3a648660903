import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildImage } from '../build-image.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { ownSourceMap } from '../own-source-map.js';
import { readProject, shownPath } from '../project.js';

/** Options of {@link bundle}. */
export interface BuildOptions {
  readonly main?: string;
  /** The file to write. @default dist/main.mjs */
  readonly outfile?: string;
  /** Takes out comments and white space, and writes what is left shorter. Names stay, as stacks show them. @default true */
  readonly minify?: boolean;
  /**
   * Files that the source map covers, which are the project's `own`, `all`, or `none`. It is written beside the file.
   * Node reads it at the start with `--enable-source-maps`, and keeps it: `all` takes 18 MB of memory. @default 'own'
   */
  readonly sourceMap?: 'own' | 'all' | 'none';
  /** Builds the image as well, by its Dockerfile; `true` is that of the project. @default none */
  readonly image?: string | true;
}

/** Written files, as paths with slashes. */
export interface BuildOutcome {
  readonly written: readonly string[];
  /** Of the file itself, without its source map. */
  readonly bytes: number;
  /** Warnings of esbuild, a location and a reason each. */
  readonly warnings: readonly string[];
  /** The built image, if requested. */
  readonly image?: string;
}

/** A CommonJS module in the bundle calls `require`. */
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Writes the operator and all its imports as one file, for the image. A kubeconfig is not read in a pod, so modules
 * that read one stay outside.
 *
 * @throws CliError if the module does not exist, or cannot be bundled
 */
export async function bundle(
  io: CliIo,
  { outfile = 'dist/main.mjs', minify = true, sourceMap = 'own', main, image }: BuildOptions,
): Promise<BuildOutcome> {
  const project = readProject(io.cwd, main === undefined ? {} : { main });
  const shown = shownPath(project.folder, project.main);
  if (!existsSync(project.main)) throw new CliError(`${shown} does not exist: name the module by --main`);
  const { build } = await import('esbuild');
  const target = resolve(project.folder, outfile);
  let outcome: BuildOutcome;
  try {
    const { warnings } = await build({
      absWorkingDir: project.folder,
      entryPoints: [project.main],
      outfile: target,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node22',
      sourcemap: sourceMap !== 'none',
      minifyWhitespace: minify,
      minifySyntax: minify,
      external: ['@kctl/kubeconfig'],
      // Leaves out a second HTTP parser of undici, 0.2 MB, which is off unless a program requests it.
      define: { esbuildDetection: '1' },
      banner: { js: banner },
      logLevel: 'silent',
    });
    const lines = warnings.map(({ text, location }) => `${location?.file ?? shown}:${location?.line ?? 0}: ${text}`);
    for (const line of lines) io.err(`${line}\n`);
    const map = `${target}.map`;
    if (sourceMap === 'own') writeFileSync(map, ownSourceMap(readFileSync(map, 'utf8')));
    else if (sourceMap === 'none') rmSync(map, { force: true });
    const written = (sourceMap === 'none' ? [target] : [target, map]).map((path) => shownPath(project.folder, path));
    outcome = { written, bytes: statSync(target).size, warnings: lines };
  } catch (error) {
    throw new CliError(`${shown} cannot be bundled: ${problemsOf(error)}`, { cause: error });
  }
  if (image === undefined) return outcome;
  const reference = image === true ? project.image : image;
  await buildImage(io, project, reference);
  return { ...outcome, image: reference };
}

/** Errors of esbuild, a location and a reason each. */
function problemsOf(error: unknown): string {
  const problems: unknown = error instanceof Error && 'errors' in error ? error.errors : undefined;
  if (!Array.isArray(problems) || problems.length === 0) return error instanceof Error ? error.message : String(error);
  return (problems as { text: string; location: { file: string; line: number } | null }[])
    .map(({ text, location }) => (location === null ? text : `${location.file}:${location.line}: ${text}`))
    .join('; ');
}
