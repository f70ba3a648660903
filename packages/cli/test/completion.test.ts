import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kctl, project } from './project.js';

describe('completion', () => {
  it.each([
    [['gen'], ['generate']],
    [
      ['generate', 'crd'],
      ['crds', 'crd'],
    ],
    [['doctor', '--as'], ['--as-operator']],
  ])('of %j', async (words, expected) => {
    expect((await kctl(project(), 'complete', '--', ...words)).out).toBe(expected.map((word) => `${word}\n`).join(''));
  });
});

/** What each shell is told, so that it prints what it would offer for the words of a line. */
const asking: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  bash: (words) => [
    '--norc',
    '-c',
    `source ./script
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
$(complete -p ${words[0]} | sed -E 's/.*-F ([^ ]+).*/\\1/')
printf '%s\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (words) => [
    '-f',
    '-c',
    `typeset -A _comps; compdef() { _comps[$2]=$1 }; compadd() { shift; print -l -- \${(P)1} }; _files() { : }
source ./script
words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}
$_comps[${words[0]}]`,
  ],
  fish: (words) => ['--no-config', '-c', `source ./script; complete -C '${words.join(' ')}'`],
};

describe.each(Object.keys(asking))('the completion script of %s', (shell) => {
  const isInstalled = spawnSync(shell, ['--version']).status === 0;

  /** A project with spaces in its path, and the script in a folder of it. */
  async function folders(): Promise<{ readonly root: string; readonly below: string }> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'kctl completion ')));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const below = join(root, 'src', 'api');
    mkdirSync(below, { recursive: true });
    writeFileSync(join(root, 'package.json'), '{}');
    writeFileSync(join(below, 'script'), (await kctl(project(), 'completion', shell)).out);
    return { root, below };
  }

  /** A kctl that offers one word: what it was called with. It begins as the word to complete does, as fish wants it. */
  function installKctl(bin: string, name: string): void {
    mkdirSync(bin, { recursive: true });
    const file = join(bin, 'kctl');
    writeFileSync(file, `#!/bin/sh\nIFS=,\necho "crd:${name}:$*"\n`);
    chmodSync(file, 0o755);
  }

  function offered(cwd: string, words: readonly string[], path = ''): readonly string[] {
    const environment = { ...process.env, HOME: cwd, PATH: [path, process.env['PATH']].filter(Boolean).join(':') };
    const { stdout, stderr } = spawnSync(shell, asking[shell]?.(words) ?? [], { cwd, env: environment });
    expect(stderr.toString()).toBe('');
    return stdout.toString().split('\n').filter(Boolean);
  }

  const line = ['kctl', 'generate', 'crd'];

  it.runIf(isInstalled)('asks the kctl of the project, from any folder of it, for kctl and for npx kctl', async () => {
    const { root, below } = await folders();
    installKctl(join(root, 'node_modules', '.bin'), 'project');
    installKctl(join(root, 'path'), 'path');
    for (const words of [line, ['npx', ...line]])
      expect(offered(below, words, join(root, 'path'))).toEqual(['crd:project:complete,--,generate,crd']);
  });

  it.runIf(isInstalled && process.getuid?.() === 0)('runs no program of a folder that another user owns', async () => {
    const { root, below } = await folders();
    const bin = join(root, 'node_modules', '.bin');
    installKctl(bin, 'project');
    const places = [root, join(root, 'package.json'), join(root, 'node_modules'), bin, join(bin, 'kctl')];
    for (const place of places) {
      chownSync(place, 12_345, 12_345);
      expect(offered(below, line)).toEqual([]);
      chownSync(place, 0, 0);
    }
    rmSync(join(root, 'package.json'));
    expect(offered(below, line)).toEqual([]);
  });

  it.runIf(isInstalled)('asks the kctl on the PATH where there is no project', async () => {
    const { root, below } = await folders();
    installKctl(join(root, 'path'), 'path');
    expect(offered(below, line, join(root, 'path'))).toEqual(['crd:path:complete,--,generate,crd']);
  });

  it.runIf(isInstalled)('offers nothing for other commands of npx, and where there is no kctl', async () => {
    const { root, below } = await folders();
    expect(offered(below, line)).toEqual([]);
    installKctl(join(root, 'path'), 'path');
    expect(offered(below, ['npx', 'vitest', 'crd'], join(root, 'path'))).toEqual([]);
  });
});
