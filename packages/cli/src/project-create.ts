import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError } from './errors.js';

const remedy = 'run npm install --save-dev @kctl/create@latest';

/**
 * A function of the @kctl/create that a project has installed, whose release defines the files of the project.
 *
 * @throws CliError if it is not installed, or has no such function
 */
export async function functionOfCreate(
  folder: string,
  name: string,
  purpose: string,
): Promise<(options: object) => unknown> {
  let path: string;
  const manifest = join(folder, 'package.json');
  try {
    // `require.resolve` alone would also take one of NODE_PATH, which is not the project's.
    if (!isInstalledAbove(folder)) throw new Error('it has no package.json');
    path = createRequire(manifest).resolve('@kctl/create');
  } catch (error) {
    throw new CliError(`@kctl/create is not installed: ${remedy}`, { cause: error });
  }
  const loaded: unknown = await import(pathToFileURL(path).href);
  const found: unknown = typeof loaded === 'object' && loaded !== null ? Reflect.get(loaded, name) : undefined;
  if (!isFunction(found)) throw new CliError(`@kctl/create is too old to ${purpose}: ${remedy}`);
  return (options) => {
    try {
      return found(options);
    } catch (error) {
      throw new CliError(error instanceof Error ? error.message : String(error), {
        cause: error,
        // A TypeError is an invalid argument; other errors are of the project.
        exitCode: error instanceof TypeError ? 2 : 1,
      });
    }
  };
}

/** By hand, as `findPackageJSON` of `node:module` does not exist in Bun. */
function isInstalledAbove(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules', '@kctl', 'create', 'package.json'))) return true;
    if (at === dirname(at)) return false;
  }
}

function isFunction(value: unknown): value is (options: object) => unknown {
  return typeof value === 'function';
}
