// Everything that `npm create @kctl` and `kctl add` write: each template with each combination of additions is compiled
// by the oldest and the newest supported TypeScript and linted; the tests of each template run alone and with all
// additions, and those of each built-in kind.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInKinds } from '../src/built-in-kinds.js';
import { addToProject, createProject, type Addition } from '../src/index.js';

const root = join(import.meta.dirname, '..', '..', '..');
const tools = join(root, 'tooling', 'tsconfig', 'node_modules');

type Template = { readonly kind: string } | { readonly for: string };
/** A custom resource, one with the name of a built-in kind, and built-in kinds: namespaced, cluster-scoped, without a status. */
const templates: readonly Template[] = [
  { kind: 'Greeting' },
  { kind: 'ConfigMap' },
  { for: 'Deployment.apps' },
  { for: 'Namespace' },
  { for: 'Secret' },
];

type Step = readonly [what: Addition, kind: string];
const [resource, controller, webhook] = (['resource', 'controller', 'webhook'] as const).map(
  (what): Step => [what, 'CronJob'],
) as [Step, Step, Step];
const ofResource: readonly (readonly Step[])[] = [
  [],
  [resource],
  [resource, controller],
  [resource, webhook],
  [resource, controller, webhook],
];
const ofBuiltIn: readonly (readonly Step[])[] = [[], [['controller', 'StatefulSet.apps']]];

/** Every combination of additions to a template: first none, last all of them. */
function combinations(template: Template): readonly (readonly Step[])[] {
  const own: readonly (readonly Step[])[] = 'kind' in template ? [[], [['webhook', template.kind]]] : [[]];
  return own.flatMap((first) =>
    ofResource.flatMap((second) => ofBuiltIn.map((third) => [...first, ...second, ...third])),
  );
}

let folder: string;
let distinct: readonly string[];
/** Projects whose tests run. */
const tested: string[] = [];

function make(name: string, template: Template, steps: readonly Step[]): string {
  const project = join(folder, name);
  createProject({ folder: project, name: 'shop', group: 'example.com', ...template });
  for (const [what, kind] of steps) {
    const { todo } = addToProject({ folder: project, what, kind });
    expect(todo.filter((line) => !line.startsWith('run npm install'))).toEqual([]);
  }
  return project;
}

/** A program of this workspace, in the folder of the projects. */
function run(args: readonly string[]): { readonly status: number | null; readonly output: string } {
  // Node takes a test for a part of that which has started it.
  const { NODE_TEST_CONTEXT: _context, ...environment } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: 900_000,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 2 ** 20,
  });
  return { status, output: stdout + stderr };
}

/** The files of all projects, one of those that have the same path and the same text. */
function distinctFiles(): readonly string[] {
  const found = new Map<string, string>();
  for (const file of globSync('*/{src,test}/**/*.ts', { cwd: folder }).toSorted()) {
    const [, ...path] = file.split(sep);
    const key = [...path, readFileSync(join(folder, file), 'utf8')].join('\n');
    if (!found.has(key)) found.set(key, file);
  }
  return [...found.values()];
}

beforeAll(() => {
  const cache = join(import.meta.dirname, '..', '.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'matrix-'));
  templates.forEach((template, index) => {
    const all = combinations(template);
    all.forEach((steps, at) => {
      const project = make(`template-${index}-${at}`, template, steps);
      if (at === 0 || at === all.length - 1) tested.push(project);
    });
  });
  for (const { kind, version, group } of builtInKinds) {
    const name = `${kind}.${version}.${group}`;
    tested.push(make(`for-${name}`, { for: name }, []));
  }
  // What every check has to find.
  mkdirSync(join(folder, 'broken', 'src'), { recursive: true });
  writeFileSync(
    join(folder, 'broken', 'src', 'main.ts'),
    "export const size: number = 'large';\nvar old = size;\nold;\n",
  );
  distinct = distinctFiles();
  // The settings of a project, on the sources of the packages, once for all.
  const settings = globSync('*/tsconfig.json', { cwd: folder });
  const [tsconfig = ''] = new Set(settings.map((file) => readFileSync(join(folder, file), 'utf8')));
  for (const file of settings) rmSync(join(folder, file));
  const { compilerOptions } = JSON.parse(tsconfig) as { readonly compilerOptions: object };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...compilerOptions, customConditions: ['@kctl/source'] },
      files: distinct,
    }),
  );
  // The linter leaves out what git ignores, unless this is a repository.
  mkdirSync(join(folder, '.git'));
  const rules = readFileSync(join(root, '.oxlintrc.json'), 'utf8');
  writeFileSync(join(folder, '.oxlintrc.json'), rules.replace(/"ignorePatterns": \[[^\]]*\],/, ''));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what npm create and kctl add write, in all combinations', () => {
  it('is 70 combinations and a project for each built-in kind', () => {
    expect(globSync('template-*', { cwd: folder })).toHaveLength(70);
    expect(globSync('for-*', { cwd: folder })).toHaveLength(builtInKinds.length);
  });

  it.each(['typescript-oldest', 'typescript-native'])('compiles with %s', { timeout: 900_000 }, (name) => {
    const compiler = [join(tools, name, 'bin', 'tsc'), join(tools, name, 'bin', 'tsc.js')].find((file) =>
      existsSync(file),
    );
    const { output } = run([compiler ?? name, '-p', '.', '--pretty', 'false']);
    const found = output.split('\n').filter((line) => /: error TS\d+: /.test(line) && !line.startsWith('..'));
    expect(found).toEqual([expect.stringMatching(/^broken\/src\/main\.ts\(1,14\): error TS2322: /)]);
  });

  it('has no finding of the linter', () => {
    const { output } = run([join(root, 'node_modules', 'oxlint', 'bin', 'oxlint'), '--format=unix', ...distinct]);
    const found = output.split('\n').filter((line) => /^[^ ]+\.ts:\d+:\d+: /.test(line));
    expect(
      found.filter((line) => !line.startsWith('broken/')),
      output,
    ).toEqual([]);
    expect(
      found.some((line) => line.includes('no-var')),
      output,
    ).toBe(true);
  });

  it('passes its own tests', { timeout: 900_000 }, () => {
    const files = tested.flatMap((project) => {
      // The simulation of a template is that of each of its kinds.
      const simulations = /template-/.test(project) ? '' : 'simulation.test.ts';
      return globSync('test/*.test.ts', { cwd: project })
        .filter((file) => simulations === '' || !file.endsWith(simulations))
        .map((file) => join(project, file));
    });
    const source = ['--import', join(root, 'scripts', 'typescript.mjs'), '--conditions=@kctl/source'];
    // In one process, since each would load all packages.
    const { status, output } = run([...source, '--test', '--test-isolation=none', ...files]);
    expect(status, output.slice(-20_000)).toBe(0);
    expect(output).toContain('fail 0\n');
  });
});
