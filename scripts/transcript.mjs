// `pnpm packages:transcript`: an empty folder, Node, npm and the packed packages; from `npm create @kctl` to an operator
// that runs, with counted commands, seconds and lines, beside those of kubebuilder's documentation. Offline, once npm
// has its packages. `--write` records the figures. KCTL_PACKED names a folder with packed packages.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { addTotals } from '../tooling/totals/index.js';
import { writeRecording } from './docs/recording.mjs';
import { buildImage } from '../e2e/packages/src/dockerfile.mjs';
import { kubebuilder } from '../e2e/packages/src/kubebuilder.mjs';
import { packAll } from '../e2e/packages/src/pack.mjs';
import { readTarballs, serveRegistry } from '../e2e/packages/src/registry.mjs';
import { hasPseudoTerminal, inPseudoTerminal, withoutEscapes } from '../e2e/packages/src/pseudo-terminal.mjs';
import { openTerminal } from '../e2e/packages/src/terminal.mjs';
import { cleanEnvironment, results, run } from '../e2e/packages/src/workspace.mjs';

/** What must hold. Seconds are on two cores, without the download; those of a restart are 1 where nothing else runs. */
const limits = {
  testSeconds: 20,
  firstSuccessSeconds: 60,
  firstSuccessCommands: 3,
  changedLines: 15,
  restartSeconds: 5,
};

const home = mkdtempSync(join(tmpdir(), 'kctl-transcript-'));
const packed = process.env.KCTL_PACKED;
const packages = await (packed === undefined ? packAll(mkdtempSync(join(home, 'packed-'))) : readTarballs(packed));
const registry = await serveRegistry(packages);
const terminal = await openTerminal(home, registry.url);
/** @type {[check: string, isTrue: boolean, detail: string][]} */
const checks = [];
const check = (/** @type {string} */ name, /** @type {boolean} */ isTrue, detail = '') => {
  checks.push([name, isTrue, detail]);
  console.log(`${isTrue ? 'ok  ' : 'FAIL'} ${name}${detail === '' ? '' : `: ${detail}`}`);
};
/** @type {ReturnType<typeof terminal.leave> | undefined} */
let dev;
try {
  const download = await terminal.type('npm create --yes @kctl@latest download -- --yes');
  terminal.steps.length = 0;
  terminal.environment.npm_config_offline = 'true';

  const created = await terminal.type('npm create @kctl@latest my-operator -- --yes');
  check('npm create works offline once npm has the packages', created.output.includes('wrote '));
  terminal.cd('my-operator');
  const tested = await terminal.type('npm test');
  check(
    `npm test takes less than ${limits.testSeconds} s`,
    tested.seconds < limits.testSeconds,
    seconds(tested.seconds),
  );

  // Ports of the operator: any that are free, since others may run on this machine.
  Object.assign(terminal.environment, { HEALTH_PROBE_BIND_ADDRESS: '0', METRICS_BIND_ADDRESS: '0' });
  dev = terminal.leave('npm run dev');
  const reconciled = await dev.until(/^.*reconciled .*result=success .*request=default\/hello .*$/m);
  const firstSuccess = created.seconds + tested.seconds + reconciled.seconds;
  const firstCommands = terminal.steps.filter(({ command }) => !command.startsWith('cd ')).length;
  check(
    `a passing test and a running reconcile after ${limits.firstSuccessCommands} commands`,
    firstCommands <= limits.firstSuccessCommands && firstSuccess < limits.firstSuccessSeconds,
    `${firstCommands} commands, ${seconds(firstSuccess)}, 0 lines`,
  );

  const saved = performance.now();
  const lines = change(terminal.cwd);
  const restarted = await dev.until(/restarted: /, saved);
  await dev.until(/restarted: [\s\S]*reconciled .*result=success .*request=default\/hello /, saved);
  check(
    'a change restarts the operator',
    lines <= limits.changedLines && restarted.seconds < limits.restartSeconds,
    `${lines} lines, ${seconds(restarted.seconds)}`,
  );

  const { groups } = await dev.until(/export KUBECONFIG=(\S+)/);
  terminal.export('KUBECONFIG', groups[0]);
  const stale = await terminal.type('npm run check', [3, 1]);
  check('a stale manifest is named', stale.output.includes('deploy/crds/greetings.example.com.yaml'));
  await terminal.type('npm run generate');
  await terminal.type('npm run check');
  const installed = await terminal.type('npx kctl install');
  check('install', installed.output.includes('established customresourcedefinition/greetings.example.com'));
  const deployed = await terminal.type('npx kctl deploy --dry-run');
  check('deploy (dry run)', /applied clusterrole\/my-operator\S* \(dry run\)/.test(deployed.output));
  const refused = await terminal.type('npx kctl uninstall', [1]);
  check('uninstall spares objects', refused.output.includes('add --delete-objects'));
  const removed = await terminal.type('npx kctl uninstall --delete-objects');
  check('uninstall', removed.output.includes('deleted customresourcedefinition/greetings.example.com'));
  const updated = await terminal.type('npx kctl update');
  check('update', updated.output.includes('everything is up to date'));

  if (hasPseudoTerminal()) await tryTerminals(terminal.cwd);
  else console.log('skip commands in a pseudo-terminal: there is no program script of util-linux');
  await dev.interrupt();

  await tryImage(terminal.cwd);
  if (process.argv.includes('--write'))
    write({ download, created, tested, reconciled, restarted, firstSuccess, firstCommands, lines });
} catch (error) {
  check('the transcript', false, error instanceof Error ? error.message : String(error));
} finally {
  await dev?.interrupt();
  await registry.stop();
  rmSync(home, { recursive: true, force: true });
}
const failed = checks.filter(([, isTrue]) => !isTrue).length;
addTotals({ suite: 'from npm create to an operator', passed: checks.length - failed, failed, skipped: 0 });
console.log(`${checks.length - failed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;

/** The first change of an author: a field, and what it does. @param {string} project @returns {number} lines */
function change(project) {
  const edits = [
    [
      'src/api/greeting.ts',
      "describe('The text to publish.'),\n",
      "        shout: z.boolean().optional().describe('In capitals.'),\n",
    ],
    [
      'src/controllers/greeting.ts',
      '{ apply }) => {\n',
      '      const message = spec.shout === true ? spec.message.toUpperCase() : spec.message;\n',
    ],
  ];
  for (const [file = '', after = '', line = ''] of edits) {
    const path = join(project, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(after)) throw new Error(`${file} has no ${JSON.stringify(after)}: change the edit of this test`);
    writeFileSync(path, text.replace(after, after + line).replace('message: spec.message }', 'message }'));
  }
  // Two lines that are new, and the one that uses them.
  return edits.length + 1;
}

/**
 * Every command in a pseudo-terminal and without one: the same text, without colours, and the same exit code. Then the
 * questions of `npm create`.
 *
 * @param {string} project
 */
async function tryTerminals(project) {
  const env = terminal.environment;
  const { output: help } = await run('sh', ['-c', 'npx kctl --help'], { cwd: project, env });
  const names = [...help.matchAll(/^ {2}([a-z]+)(?= [[<]| {2})/gm)].flatMap(([, name]) =>
    name === 'help' ? [] : [name],
  );
  const commands = [
    '--help',
    '--version',
    ...names.map((name) => `${name} --help`),
    'generate --check',
    'generate --check --json',
    'completion bash',
    'doctor --json',
    'install --dry-run',
    'deploy --dry-run',
    'undeploy --dry-run',
    'generate --chek',
    'nonsense',
  ];
  const bin = join(project, 'node_modules', '.bin', 'kctl');
  const differing = [];
  for (const command of commands) {
    const plainly = await run(bin, command.split(' '), { cwd: project, env });
    const seen = await inPseudoTerminal(`${bin} ${command}`, { cwd: project, env });
    // Words of both streams may change places, and lines are as long as the terminal is wide.
    const sorted = (/** @type {string} */ text) => text.split(/\s+/).sort().join(' ');
    if (plainly.code !== seen.code || sorted(plainly.output) !== sorted(seen.output)) differing.push(command);
  }
  check(`${commands.length} command lines show the same in a terminal`, differing.length === 0, differing.join(', '));

  const asked = await inPseudoTerminal('npm create @kctl@latest asked', {
    cwd: home,
    env,
    answers: [
      [/Name/, '\r'],
      [/Group of the API/, '\u0015shop\r'],
      [/is not valid/, '.example.com\r'],
      [/Kind/, '\u0015Website\r'],
    ],
  });
  const isAsked = asked.code === 0 && existsSync(join(home, 'asked', 'src', 'api', 'website.ts'));
  check(
    'npm create asks, and says what is not valid',
    isAsked,
    isAsked ? '' : withoutEscapes(asked.output).slice(-2_000),
  );
  const left = await inPseudoTerminal('npm create @kctl@latest left', {
    cwd: home,
    env,
    answers: [[/Name/, '\u0003']],
  });
  const isLeft = left.code !== 0 && !existsSync(join(home, 'left')) && left.output.includes('Nothing was written.');
  check('Ctrl-C leaves nothing behind', isLeft, isLeft ? '' : withoutEscapes(left.output).slice(-2_000));
}

/** The stages of the Dockerfile, and what the image starts. @param {string} project */
async function tryImage(project) {
  const started = performance.now();
  const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');
  const image = await buildImage(dockerfile, {
    context: project,
    folder: join(home, 'image'),
    env: terminal.environment,
  });
  const node = join(home, 'bin', 'node');
  const args = image.args[0] === '/nodejs/bin/node' ? image.args.slice(1) : image.args;
  const env = cleanEnvironment({ ...image.env, HOME: home, PATH: terminal.environment.PATH ?? '' });
  const helped = await run(node, [...args, '--help'], { cwd: image.cwd, env });
  check(
    'the image starts',
    helped.code === 0 && helped.output.includes('--leader-elect'),
    seconds((performance.now() - started) / 1000),
  );
  const lost = await run(node, args, { cwd: image.cwd, env });
  check(
    'the image names a cluster that is missing',
    lost.code === 1 && lost.output.includes('no kubeconfig found'),
    lost.output.trim(),
  );
  check('the image runs as a number that is not 0', /^[1-9]\d*(:\d+)?$/.test(image.user), image.user);
}

/** @param {number} value */
function seconds(value) {
  return `${value.toFixed(1)} s`;
}

/** @param {Record<string, any>} figures */
function write({ download, created, tested, reconciled, restarted, firstSuccess, firstCommands, lines }) {
  const ours = {
    prerequisites: 'Node, npm',
    commandsToTestAndReconcile: firstCommands,
    secondsToTestAndReconcile: round(firstSuccess),
    linesOfTheSample: 0,
    linesOfTheFirstChange: lines,
    seconds: {
      download: round(download.seconds),
      create: round(created.seconds),
      test: round(tested.seconds),
      devToFirstReconcile: round(reconciled.seconds),
      saveToRestart: round(restarted.seconds),
    },
  };
  mkdirSync(results, { recursive: true });
  const record = { machine: { cores: cpus().length, node: process.version }, kctl: ours, kubebuilder };
  writeFileSync(join(results, 'transcript.json'), `${JSON.stringify(record, null, 2)}\n`);
  const text = terminal.steps.map(({ command, seconds: taken, output }) =>
    [
      `${taken.toFixed(1).padStart(6)} s  $ ${plain(command)}`,
      ...plain(output)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => `            ${line}`),
    ].join('\n'),
  );
  const head =
    'From an empty folder to an operator, written by scripts/transcript.mjs: seconds of each command, without network.';
  writeFileSync(join(results, 'transcript.txt'), `${head}\n\n${text.join('\n')}\n`);
  writeRecording();
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}

/** What differs between machines. @param {string} text */
function plain(text) {
  return text
    .replaceAll(home, '~')
    .replaceAll(registry.url, 'https://registry.npmjs.org')
    .replace(/kctl-dev-\w+/g, 'kctl-dev')
    .split('\n')
    .filter((line) => !/^npm warn/.test(line))
    .join('\n');
}
