// Every command of kctl in a pseudo-terminal, as a person sees it, and without one, with an input that never ends: the same
// words and the same exit code, no question, no escape sequence, with NO_COLOR and without.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyPort, cli, createFolders, kctl, node, run, startKctl, type Ended } from '../src/project.js';

const hasTerminal =
  process.platform === 'linux' && spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;
const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
const environmentOf = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const { NO_COLOR: _one, FORCE_COLOR: _two, ...rest } = process.env;
  return { ...rest, TERM: 'xterm-256color', ...more };
};

/** A command line in a terminal of 100 columns. */
async function inTerminal(args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const line = `stty cols 100 rows 40; ${quoted([...node, cli, ...args])}`;
  const ended = await run(['script', '--quiet', '--return', '--command', line, '/dev/null'], cwd, environmentOf(more));
  return { ...ended, out: ended.out.replaceAll('\r\n', '\n') };
}

/** A command line whose output is a pipe, and whose input is one that stays open. */
async function inPipe(args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return await run([...node, cli, ...args], cwd, environmentOf(more));
}

/** Words of both streams may change places, and lines are as long as the terminal is wide. */
const words = ({ out, err }: Ended): readonly string[] =>
  `${out} ${err}`
    .replace(/:\d{4,5}\b|kctl-dev-\w+/g, '#')
    .split(/\s+/)
    .filter((word) => word !== '')
    .sort();

const folders = createFolders();
let environment: TestEnvironment;
let folder: string;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
  folder = folders.project();
  // What imports no package: those of the workspace may not be built.
  writeFileSync(join(folder, 'plain.ts'), 'console.log(1);\n');
  await kctl(folder, 'generate');
});
afterAll(async () => {
  folders.remove();
  await environment.stop();
});

/** Each command as it is typed, and how it ends. What has no cluster, no @kctl/create, or a stale file says so. */
const lines: readonly (readonly [command: string, args: string, code: number])[] = [
  ['add', 'add resource Page', 1],
  ['generate', 'generate --check', 0],
  ['install', 'install --dry-run', 0],
  ['uninstall', 'uninstall --dry-run', 0],
  ['deploy', 'deploy --dry-run', 1],
  ['undeploy', 'undeploy --dry-run', 0],
  ['plan', 'plan', 1],
  ['dev', 'dev --samples none', 1],
  ['build', 'build --main plain.ts --outfile dist/terminal.mjs', 0],
  ['update', 'update --dry-run', 1],
  ['doctor', 'doctor', 1],
  ['inspect', 'inspect', 1],
  ['completion', 'completion bash', 0],
];

describe.skipIf(!hasTerminal)('kctl in a pseudo-terminal and in a pipe', () => {
  it('has each command of the help in this test', async () => {
    const { out, err, code } = await kctl(folder, '--help');
    expect({ err, code }).toEqual({ err: '', code: 0 });
    const names = [...out.matchAll(/^ {2}([a-z]+)(?= [[<]| {2})/gm)].map(([, name]) => name);
    expect(names.filter((name) => name !== 'help')).toEqual(lines.map(([name]) => name));
  });

  it.each(lines)(
    '%s: the same in both',
    async (name, line, code) => {
      const KUBECONFIG = environment.kubeconfigPath;
      const args = line.split(' ');
      const [piped, seen, plain, help, helpSeen] = await Promise.all([
        inPipe(args, folder, { KUBECONFIG }),
        inTerminal(args, folder, { KUBECONFIG }),
        inTerminal(args, folder, { KUBECONFIG, NO_COLOR: '1' }),
        inPipe([name, '--help'], folder),
        inTerminal([name, '--help'], folder),
      ]);
      expect(piped, piped.err).toMatchObject({ code });
      // An error is one sentence for a person, without a stack.
      if (code !== 0) expect(piped.err).toMatch(/^kctl: [^\n]+\n$/m);
      expect(`${piped.out}${piped.err}`).not.toMatch(/^\s+at /m);
      for (const terminal of [seen, plain]) {
        expect(terminal.code).toBe(code);
        expect(words(terminal)).toEqual(words(piped));
      }
      expect(words(helpSeen)).toEqual(words(help));
      expect(help).toMatchObject({ code: 0, err: '' });
      for (const { out, err } of [piped, seen, plain, help, helpSeen]) expect(out + err).not.toContain('\u001b');
    },
    120_000,
  );

  it('has the same exit code and sentence for a mistake', async () => {
    const sentence = "kctl: unknown command 'doctr' (Did you mean doctor?): see npx kctl --help\n";
    expect(await inTerminal(['doctr'], folder)).toMatchObject({ code: 2, out: sentence });
    expect(await inPipe(['doctr'], folder)).toEqual({ code: 2, out: '', err: sentence });
  }, 60_000);

  it('ends kctl dev in order on Ctrl-C', async () => {
    const line = quoted([...node, cli, 'dev', '--', ...anyPort]);
    const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      cwd: folder,
      env: environmentOf({}),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (text: Buffer) => {
        output += text.toString();
        if (output.includes('Starting workers')) resolve();
      });
      void ended.then(() => resolve());
    });
    child.stdin.write('\u0003');
    expect(await ended, output).toBe(0);
    expect(output).toContain('All workers finished');
    expect(output).not.toContain('\u001b[');
  }, 60_000);
});

it('prints JSON alone with --json, a line each in kctl dev', async () => {
  const program = startKctl(folder, ['dev', '--json', '--', ...anyPort]);
  try {
    await program.waitFor('Serving webhook server');
  } finally {
    await program.stop('SIGINT');
  }
  const printed = program.output.trim().split('\n');
  expect(printed.map((each) => typeof JSON.parse(each))).toEqual(printed.map(() => 'object'));
  expect(printed.filter((each) => each.includes('"source":"kctl"')).length).toBeGreaterThan(1);
}, 60_000);

it('is refused by a Node that is too old, in one sentence, before anything else is loaded', async () => {
  const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.19.0' })`;
  const found = await run([...node, '--import', old, cli, 'generate'], folder);
  expect(found).toEqual({
    code: 1,
    out: '',
    err: 'kctl: @kctl requires Node.js 22.19 or newer; this is 20.19.0: install a current release from https://nodejs.org\n',
  });
}, 60_000);
