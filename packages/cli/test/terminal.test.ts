// Every command in a pseudo-terminal, as a person sees it, and without one: the same text, no question, no escape sequence
// in a pipe.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { kctl, project } from './project.js';

const root = join(import.meta.dirname, '..', '..', '..');
const cli = join(import.meta.dirname, '..', 'src', 'cli.ts');
const node = [process.execPath, '--import', join(root, 'scripts', 'typescript.mjs'), '--conditions=@kctl/source'];
const hasTerminal =
  process.platform === 'linux' && spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;
const commands = [
  'add',
  'generate',
  'install',
  'uninstall',
  'deploy',
  'undeploy',
  'dev',
  'build',
  'update',
  'doctor',
  'inspect',
  'completion',
];

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TERM: 'xterm-256color' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => void (output += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output: output.replaceAll('\r\n', '\n') };
}

describe.skipIf(!hasTerminal)('kctl in a pseudo-terminal', () => {
  it('shows the help of each command, as without one', async () => {
    const folder = project();
    // One process for all: each costs a second.
    const each = commands.map((name) => `await runKctl(io, ['${name}', '--help']);`).join('\n');
    const text = `
      import { runKctl } from '${pathToFileURL(join(import.meta.dirname, '..', 'src', 'index.ts')).href}';
      const write = (text) => process.stdout.write(text);
      const io = { cwd: process.cwd(), environment: {}, out: write, err: write, signal: new AbortController().signal };
      ${each}`;
    const quoted = [...node, '--input-type=module', '--eval', text]
      .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
      .join(' ');
    const inTerminal = await run(
      'script',
      ['--quiet', '--return', '--command', `stty cols 80 rows 40; ${quoted}`, '/dev/null'],
      folder,
    );
    const plain = (await Promise.all(commands.map((name) => kctl(folder, name, '--help'))))
      .map(({ out }) => out)
      .join('');
    expect(inTerminal).toEqual({ code: 0, output: plain });
    expect(plain).not.toContain('\u001b');
  }, 60_000);

  it('has the same exit code and sentence for a mistake', async () => {
    const folder = project();
    const quoted = [...node, cli, 'doctr'].join(' ');
    const inTerminal = await run(
      'script',
      ['--quiet', '--return', '--command', `stty cols 80 rows 40; ${quoted}`, '/dev/null'],
      folder,
    );
    expect(inTerminal).toEqual({
      code: 2,
      output: "kctl: unknown command 'doctr' (Did you mean doctor?): see kctl --help\n",
    });
  }, 60_000);
});

it('is refused by a Node that is too old, in one sentence, before anything else is loaded', async () => {
  const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.19.0' })`;
  const found = await run(process.execPath, [...node.slice(1), '--import', old, cli, 'generate'], project());
  expect(found).toEqual({ code: 1, output: 'kctl: Node 20.19.0 is too old: install 22.19.0 or newer\n' });
}, 60_000);
