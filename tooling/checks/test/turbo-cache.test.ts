// `turbo run build test lint` works by package: a change misses the cache of its package and of those that depend on it.
// Read from turbo's own summary, in a copy of the workspace's manifests with one source and one test per package.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
interface Summary {
  readonly tasks: readonly { readonly taskId: string; readonly hash: string; readonly command: string }[];
}

let copy: string;
const manifests = new Map<string, Manifest>();

function write(file: string, content: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), content);
}

/** The hash of each task that runs a command. */
function hashes(): Map<string, string> {
  const args = ['run', 'build', 'test', 'lint', 'typecheck', '--dry=json', '--filter=./packages/*'];
  const { stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', 'turbo'), args, {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', FORCE_COLOR: '0' },
  });
  if (!stdout.startsWith('{')) throw new Error(`turbo: ${stdout}${stderr}`);
  const { tasks } = JSON.parse(stdout) as Summary;
  return new Map(tasks.filter(({ command }) => command !== '<NONEXISTENT>').map(({ taskId, hash }) => [taskId, hash]));
}

/** The tasks whose cache a change misses. */
function missed(file: string, content: string): string[] {
  const path = join(copy, file);
  const previous = readFileSync(path, 'utf8');
  const before = hashes();
  write(file, content);
  const after = hashes();
  write(file, previous);
  return [...after].flatMap(([task, hash]) => (before.get(task) === hash ? [] : [task])).sort();
}

/** A package, and all that depend on it, in any way. */
function dependents(name: string): string[] {
  const found = new Set([name]);
  for (const each of found)
    for (const [other, { dependencies, devDependencies }] of manifests)
      if (each in { ...dependencies, ...devDependencies }) found.add(other);
  return [...found];
}

/** Of these packages, the tasks that have a script. */
function tasksOf(names: readonly string[], tasks: readonly string[]): string[] {
  return names
    .flatMap((name) =>
      tasks.filter((task) => manifests.get(name)?.scripts?.[task] !== undefined).map((task) => `${name}#${task}`),
    )
    .filter((task) => task.startsWith('@kctl/'))
    .sort();
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'kctl-turbo-'));
  for (const file of ['package.json', 'turbo.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'architecture.json'])
    cpSync(join(root, file), join(copy, file));
  for (const file of globSync('{packages,examples,tooling,e2e}/*/package.json', { cwd: root }).concat([
    'bench/package.json',
    'docs/package.json',
  ])) {
    const folder = dirname(file);
    write(file, readFileSync(join(root, file), 'utf8'));
    if (!folder.startsWith('packages/')) continue;
    const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest;
    manifests.set(manifest.name, manifest);
    for (const name of ['turbo.json', 'README.md', 'tsup.config.ts', 'tsconfig.json'])
      if (existsSync(join(root, folder, name)))
        write(`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8'));
    write(`${folder}/src/index.ts`, 'export const marker: string = "ok";\n');
    write(`${folder}/src/index.test.ts`, "import './index.js';\n");
  }
  write('docs/guides/rbac.md', '# Rights\n');
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('turbo run build test lint typecheck', () => {
  it('has these scripts in every package', () => {
    for (const task of ['build', 'test', 'lint', 'typecheck'])
      expect(
        [...manifests.values()].filter(({ scripts }) => scripts?.[task] === undefined).map(({ name }) => name),
      ).toEqual([]);
  });

  it('runs again for a source of workqueue: its own, and those of what depends on it', () => {
    const packages = dependents('@kctl/workqueue');
    expect(packages.length).toBeLessThan(manifests.size / 2);
    expect(packages).toContain('@kctl/controller');
    expect(packages).not.toContain('@kctl/informer');
    expect(missed('packages/workqueue/src/index.ts', 'export const marker: string = "changed";\n')).toEqual(
      tasksOf(packages, ['build', 'test', 'lint', 'typecheck']),
    );
  });

  it('runs the checks of workqueue alone for one of its tests', () => {
    expect(missed('packages/workqueue/src/index.test.ts', "import './index.js';\n// changed\n")).toEqual(
      tasksOf(['@kctl/workqueue'], ['test', 'lint', 'typecheck']),
    );
  });

  it('runs the tests of cli alone for a page that they read', () => {
    expect(missed('docs/guides/rbac.md', '# Roles\n')).toEqual(['@kctl/cli#test']);
  });
});

it('knows every file outside of a package that its tests read', () => {
  const { testsRead } = JSON.parse(readFileSync(join(root, 'architecture.json'), 'utf8')) as {
    testsRead: Record<string, string[]>;
  };
  const outside =
    /(?:import\.meta\.dirname, |new URL\()'(?:\.\.', '\.\.', '\.\.'|\.\.\/\.\.\/\.\.\/(?!scripts\/typescript\.mjs))/;
  const loader = /'\.\.', '\.\.', '\.\.'(?=[\s\S]*'scripts', 'typescript\.mjs')/;
  const readers = globSync('packages/*/{src,test}/**/*.ts', { cwd: root, exclude: (file) => file.endsWith('kinds') })
    .filter((file) => /\.test\.ts$|\/test\//.test(file))
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return outside.test(text) && !loader.test(text);
    })
    .map((file) => file.split('/')[1] ?? '');
  expect([...new Set(readers)].sort()).toEqual(Object.keys(testsRead).sort());
});
