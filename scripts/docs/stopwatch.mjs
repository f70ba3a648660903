// Follows docs/first-operator.md literally: an empty folder, the packages as they would be published, every command and
// file in the order of the page, with the time that each takes. Writes docs/first-operator.transcript.txt.
// KCTL_PACKED names a folder with packed packages, so that they are not packed again. `--real` uses a kube-apiserver instead of step 5's server, and writes nothing. Needs kubectl.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packAll } from '../../e2e/packages/src/pack.mjs';
import { readTarballs, serveRegistry } from '../../e2e/packages/src/registry.mjs';
import { cleanEnvironment } from '../../e2e/packages/src/workspace.mjs';
import { blocksOf } from './documents.mjs';
import { missingLine } from './programs.mjs';

const page = 'docs/first-operator.md';
const transcript = 'docs/first-operator.transcript.txt';
const isReal = process.argv.includes('--real');

const home = mkdtempSync(join(tmpdir(), 'kctl-stopwatch-'));
const packed = process.env.KCTL_PACKED;
const packages =
  packed === undefined ? await packAll(mkdtempSync(join(tmpdir(), 'kctl-packed-'))) : await readTarballs(packed);
const registry = await serveRegistry(packages);
const real = isReal
  ? await (await import('../../e2e/kube-apiserver/start.mjs')).startRealApiServer({ controllerManager: true })
  : undefined;
const environment = cleanEnvironment({
  HOME: home,
  // The workspace's own Node; npm is the machine's.
  PATH: `${dirname(process.execPath)}${delimiter}${pathWithoutWorkspace()}`,
  'npm_config_@kctl:registry': registry.url,
  npm_config_update_notifier: 'false',
  npm_config_fund: 'false',
  npm_config_audit: 'false',
  NO_COLOR: '1',
});

const started = performance.now();
/** @type {string[]} */
const lines = [];
const say = (/** @type {string} */ text) => {
  lines.push(text);
  console.log(text);
};
const clock = () => {
  const seconds = (performance.now() - started) / 1000;
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;
};
/** What a reader must not see, and what differs between machines. @param {string} text */
const plain = (text) =>
  text
    .replaceAll(home, '~')
    .replaceAll(registry.url, 'https://registry.npmjs.org')
    .replace(/("(?:token|certificateAuthority)":)"[^"]*"/g, '$1"…"')
    .split('\n')
    .filter((line) => !/^npm warn|looking for funding/.test(line))
    .join('\n')
    .trimEnd();

/** The reader's terminal: one shell for all commands, so that `cd` and `export` last. */
const shell = spawn('bash', ['--noprofile', '--norc'], {
  cwd: home,
  env: environment,
  stdio: ['pipe', 'pipe', 'pipe'],
});
let output = '';
shell.stdout.on('data', (chunk) => (output += chunk));
shell.stderr.on('data', (chunk) => (output += chunk));

/** @param {string} command @returns {Promise<{ code: number, text: string }>} */
async function inShell(command) {
  output = '';
  shell.stdin.write(`${command}\necho "@@ $?"\n`);
  for (;;) {
    const end = /@@ (\d+)\n$/.exec(output);
    if (end !== null) return { code: Number(end[1]), text: output.slice(0, end.index) };
    if (shell.exitCode !== null) throw new Error(`the shell ended:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** @type {{ command: string, child: import('node:child_process').ChildProcess, output: string }[]} */
const others = [];

/** A command of another terminal: it stays. @param {string} command @param {string} folder @param {string} kubeconfig */
async function elsewhere(command, folder, kubeconfig) {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: folder,
    env: { ...environment, ...(kubeconfig === '' ? {} : { KUBECONFIG: kubeconfig }) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const other = { command, child, output: '' };
  others.push(other);
  child.stdout.on('data', (chunk) => (other.output += chunk));
  child.stderr.on('data', (chunk) => (other.output += chunk));
  while (!other.output.includes('\n')) {
    if (child.exitCode !== null) throw new Error(`${command} ended:\n${other.output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

let failed = false;
let lastOutput = '';
try {
  for (const { language, marks, title, text, line } of blocksOf(page)) {
    const { text: pwd } = await inShell('pwd');
    const folder = pwd.trim();
    if (title !== undefined) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, title), text);
      say(`${clock()}  (${title}: ${text.split('\n').length - 1} lines)`);
    } else if (language === 'sh' && marks.includes('background')) {
      if (isReal && text.includes('kctl-apiserver')) continue;
      say(`${clock()}  $ ${text.trim()}   # in a terminal of its own`);
      const { text: kubeconfig } = await inShell('echo "$KUBECONFIG"');
      await elsewhere(text.trim(), folder, kubeconfig.trim());
    } else if (language === 'sh') {
      for (const command of commandsOf(text)) {
        const given =
          isReal && command.startsWith('export KUBECONFIG') ? `export KUBECONFIG=${real?.kubeconfigPath}` : command;
        say(`${clock()}  $ ${command.replaceAll('\n', '\n          ')}`);
        const { code, text: printed } = await inShell(given);
        lastOutput = printed;
        if (plain(printed) !== '') say(plain(printed).replace(/^/gm, '          '));
        if (code !== 0) throw new Error(`${page}:${line}: ${command} failed with ${code}`);
      }
    } else if (marks.includes('output')) {
      const missing = missingLine(lastOutput, text);
      if (missing !== undefined) throw new Error(`${page}:${line}: the output lacks ${JSON.stringify(missing)}`);
    }
  }
  const operator = others.find(({ command }) => command === 'node main.ts');
  say(`${clock()}  ^C   # in the operator's terminal`);
  await stop(operator?.child);
  say(plain(operator?.output ?? '').replace(/^/gm, '          '));
  say(`${clock()}  done`);
} catch (error) {
  failed = true;
  console.error(error);
  for (const other of others) console.error(`${other.command}:\n${other.output}`);
} finally {
  for (const { child } of others) await stop(child);
  shell.stdin.end('exit\n');
  await real?.stop();
  await registry.stop();
  rmSync(home, { recursive: true, force: true });
}
if (!failed && !isReal) {
  const head = `docs/first-operator.md, followed by scripts/docs/stopwatch.mjs: minutes and seconds since the empty folder, Node ${process.version}, 2 cores.`;
  writeFileSync(transcript, `${head}\nReading and typing come on top.\n\n${lines.join('\n')}\n`);
}
process.exitCode = failed ? 1 : 0;

/** What pnpm and npx put on the PATH is not on that of a reader. */
function pathWithoutWorkspace() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter);
}

/** One command each; a here-document belongs to its command. @param {string} text */
function commandsOf(text) {
  /** @type {string[]} */
  const commands = [];
  let open = '';
  for (const line of text.trimEnd().split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    const end = /<<(\w+)/.exec(open)?.[1];
    if (open.endsWith('\\') || (end !== undefined && line !== end)) continue;
    commands.push(open);
    open = '';
  }
  return commands;
}

/** @param {import('node:child_process').ChildProcess | undefined} child */
async function stop(child) {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  process.kill(-child.pid, 'SIGINT');
  await ended;
}
