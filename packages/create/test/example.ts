// examples/greeting is what `npm create @kctl` and `kctl generate` make of a name alone, and nothing else: not a line is
// edited. What stands beside it is not committed (node_modules), or is the workspace's: pnpm links the packages that it
// names by their release (`linkWorkspacePackages`), and keeps the lock file.
// As a program it writes the folder anew: after a change of the template, of what is generated, or of the release.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runKctl } from '@kctl/cli';
import { createProject } from '../src/index.js';

export const example: string = join(import.meta.dirname, '..', '..', '..', 'examples', 'greeting');

/** What an installation, a build and turbo leave in it. */
const notOwn: ReadonlySet<string> = new Set(['node_modules', 'dist', '.turbo', '.cache']);

/** Makes the project, without its manifests, in a new folder below that of the system for such. */
export function makeProject(): { readonly folder: string } & Disposable {
  const parent = mkdtempSync(join(tmpdir(), 'kctl-example-'));
  const folder = join(parent, 'greeting');
  createProject({ folder, name: 'greeting', group: 'example.com', kind: 'Greeting' });
  return { folder, [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }) };
}

/** `kctl generate` in the example. @returns its exit code and what it says */
export async function generate(...flags: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  let text = '';
  const write = (part: string): void => void (text += part);
  const io = { cwd: example, environment: {}, out: write, err: write, signal: new AbortController().signal };
  return { code: await runKctl(io, ['generate', ...flags]), text };
}

/** Texts by path, with slashes. */
export function textsIn(folder: string): Readonly<Record<string, string>> {
  const own = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !notOwn.has(name));
  const files = own.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    const below = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    return below.map((each) => join(each.parentPath, each.name));
  });
  return Object.fromEntries(
    files.sort().map((file) => [relative(folder, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  using project = makeProject();
  mkdirSync(example, { recursive: true });
  for (const name of readdirSync(example)) if (!notOwn.has(name)) rmSync(join(example, name), { recursive: true });
  cpSync(project.folder, example, { recursive: true });
  const { code, text } = await generate();
  process.stdout.write(text);
  process.exitCode = code;
}
