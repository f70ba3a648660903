import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { anyPort, createFolders, kctl, startKctl } from '../src/project.js';

const folders = createFolders();
afterEach(() => folders.remove());

/** A project with a sample. */
function projectWithSample(): string {
  const folder = folders.project();
  mkdirSync(join(folder, 'deploy', 'samples'), { recursive: true });
  const sample = { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'hello', namespace: 'default' } };
  writeFileSync(join(folder, 'deploy', 'samples', 'a.yaml'), JSON.stringify({ ...sample, spec: { html: 'hi' } }));
  return folder;
}

describe('kctl dev', () => {
  it('runs an operator with webhooks on a server of its own, and again after a change', async () => {
    const folder = projectWithSample();
    const program = startKctl(folder, ['dev', '--', ...anyPort]);
    let code: number | null = null;
    try {
      await program.waitFor('applied website/hello in default');
      await program.waitFor('Serving webhook server');
      // The whole line: it may come in parts.
      await vi.waitFor(() => expect(program.output).toMatch(/reconciled .* ms=\d+.*\n/), { timeout: 30_000 });
      expect(program.output).toMatch(
        /reconciled .*result=success controller=website request=default\/hello reasons=".*create default\/hello" attempt=1 ms=\d+/,
      );
      const [, url = ''] = /^inspection at (\S+)$/m.exec(program.output) ?? [];
      const why = await kctl(folder, 'inspect', 'why', 'website/default/hello', '--url', url);
      expect(why.out).toMatch(/^website\/default\/hello in 127\.0\.0\.1:\d+\n {2}website: /);
      expect(why.out).toMatch(
        /^ {4}why {4}kind source: Website\.example\.com create default\/hello @\d+\n {4}wrote {2}apply ConfigMap default\/hello @\d+, led to website default\/hello #\d+$/m,
      );
      expect(why).toMatchObject({ code: 0, err: '' });
      const main = join(folder, 'src', 'main.ts');
      const changed = join(folder, 'changed.ts');
      writeFileSync(changed, readFileSync(main, 'utf8').replace('{{ braces }} are text', 'now with a title'));
      // At once: of a file that is half written, nothing can be applied before the operator starts.
      renameSync(changed, main);
      await program.waitFor(' after the save');
      // 1 s where nothing else runs; what else runs here is not known.
      const [, seconds] = /^restarted: main\.ts changed \((\d+\.\d) s after the save/m.exec(program.output) ?? [];
      expect(Number(seconds)).toBeLessThan(30);
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
