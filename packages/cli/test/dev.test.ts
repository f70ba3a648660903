import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { describe, expect, it } from 'vitest';
import { project } from './project.js';

/** A project with a sample. */
function projectWithSample(): string {
  const folder = project();
  mkdirSync(join(folder, 'deploy', 'samples'), { recursive: true });
  const sample = { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'hello', namespace: 'default' } };
  writeFileSync(join(folder, 'deploy', 'samples', 'a.yaml'), JSON.stringify({ ...sample, spec: { html: 'hi' } }));
  return folder;
}

const cli = join(import.meta.dirname, '..', 'src', 'cli.ts');
const anyPort = ['--health-probe-bind-address', '0', '--metrics-bind-address', '0', '--webhook-port', '0'];

describe('kctl dev', () => {
  it('runs an operator with webhooks on a server of its own, and again after a change', async () => {
    const folder = projectWithSample();
    const program = startExample(cli, { cwd: folder, args: ['dev', '--', ...anyPort] });
    let code: number | null = null;
    try {
      await program.waitFor('applied website/hello in default');
      await program.waitFor('Serving webhook server');
      await program.waitFor('Reconciled');
      expect(program.output).toMatch(
        /Reconciled .*result=success controller=website request=default\/hello reasons=".*create default\/hello" attempt=1 ms=\d+/,
      );
      const main = join(folder, 'src', 'main.ts');
      writeFileSync(main, readFileSync(main, 'utf8').replace('{{ braces }} are text', 'now with a title'));
      await program.waitFor('restarted: main.ts changed');
      // The changed schema is installed before the operator that needs it starts.
      expect(program.output.match(/^applied customresourcedefinition/gm)).toHaveLength(2);
      await program.waitFor('All workers finished');
      expect(program.output.match(/API server at/g)).toHaveLength(1);
    } finally {
      code = await program.stop('SIGINT');
    }
    expect(code, program.output).toBe(0); // not in place of the error that ended the test
  });
});
