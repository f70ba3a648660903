import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { example, generate, makeProject, textsIn } from './example.js';

const root = dirname(dirname(example));
const again =
  'after a change of the template, of what is generated or of the release: pnpm --filter @kctl/create example';

/** A command in the project; @kctl resolves to sources. Node takes a runner that was started by another for a part of it. */
function run(command: string, args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { PATH = '', NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const loader = pathToFileURL(join(root, 'scripts', 'typescript.mjs')).href;
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: example,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    env: {
      ...environment,
      PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
      NODE_OPTIONS: `--import ${loader} --conditions=@kctl/source`,
    },
  });
  return { status, output: stdout + stderr };
}

describe('examples/greeting', () => {
  it('is what npm create makes, not a line edited', () => {
    using project = makeProject();
    const made = textsIn(project.folder);
    const kept = Object.entries(textsIn(example));
    // What kctl generates is compared by its own check.
    const own = kept.filter(([path]) => !path.startsWith('deploy/') || path.startsWith('deploy/samples/'));
    expect(Object.fromEntries(own), again).toEqual(made);
    expect(kept.length).toBeGreaterThan(own.length);
  });

  it('has in deploy/ what kctl generates of it', async () => {
    const { code, text } = await generate('--check');
    expect(code, `${again}\n${text}`).toBe(0);
  });

  it('passes its own npm test, also under the faults of a simulation', () => {
    const { status, output } = run('npm', ['test']);
    expect(status, output).toBe(0);
    expect(output).toMatch(/pass 2\n/);
  });

  it('plays as a demo: kctl dev, to the first reconcile of its sample', () => {
    const { status, output } = run('node', [join(root, 'scripts', 'run.mjs'), 'demo', 'greeting']);
    expect(status, output).toBe(0);
    expect(output).toMatch(/reconciled .*result=success/);
  });
});
