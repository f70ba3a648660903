// `pnpm packages:try`: packs all packages, installs each alone in an empty folder by its README's install line (npm and
// pnpm), runs the README's first program on each supported Node, and type-checks it as a user's compiler would.
// Names of packages as arguments try these alone; the result is written only when all are tried.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packAll } from './pack.mjs';
import { firstProgram, untilStopped } from './readme.mjs';
import { serveRegistry } from './registry.mjs';
import { cleanEnvironment, must, nodeBinary, nodeVersions, pnpm, results, root, run } from './workspace.mjs';

const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const names = readdirSync(join(root, 'packages')).filter((name) => chosen.length === 0 || chosen.includes(name));
const folder = mkdtempSync(join(tmpdir(), 'kctl-try-'));
const packages = await packAll(mkdtempSync(join(folder, 'packed-')));
const registry = await serveRegistry(packages);
const nodes = await Promise.all(nodeVersions.map(async (version) => ({ version, binary: await nodeBinary(version) })));
const oldNode = '20';
const old = await nodeBinary(oldNode);
const bytes = new Map(packages.map(({ name, bytes: size }) => [name.split('/')[1], size]));
const cluster = await startServer();

/** @type {Record<string, any>[]} */
const rows = [];
try {
  for (const name of names) {
    const row = await tryPackage(name);
    rows.push(row);
    console.log(line(row));
  }
} finally {
  await cluster.stop();
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
const failed = rows.filter(({ problems }) => problems.length > 0);
for (const { name, problems } of failed) for (const problem of problems) console.error(`\n${name}: ${problem}`);
if (chosen.length === 0) writeResult();
console.log(`${rows.length - failed.length} passed, ${failed.length} failed, 0 skipped`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @param {string} name */
async function tryPackage(name) {
  const { install, pnpmAdd, program, needsCluster } = firstProgram(name);
  const problems = [];
  /** @type {Record<string, any>} */
  const row = { name, tarballKiB: Math.round((bytes.get(name) ?? 0) / 1024), needsCluster, problems };
  for (const installer of ['npm', 'pnpm']) {
    const place = join(folder, `${name}-${installer}`);
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'first-hour', private: true, type: 'module' }));
    writeFileSync(join(place, '.npmrc'), `@kctl:registry=${registry.url}\naudit=false\nfund=false\n`);
    writeFileSync(join(place, 'first.ts'), program);
    const command = installer === 'npm' ? ['npm'] : ['npx', '--yes', pnpm];
    const verb = installer === 'npm' ? 'install' : 'add';
    const [first = '', ...rest] = [...command, verb, ...(installer === 'npm' ? install : pnpmAdd)];
    const installed = await run(first, rest, { cwd: place, env: cleanEnvironment({ CI: '1' }) });
    if (installed.code !== 0) {
      problems.push(`${installer} install: ${installed.output.slice(-2_000)}`);
      continue;
    }
    if (installer === 'npm') Object.assign(row, countInstalled(place), { installMs: Math.round(installed.ms) });
    const refusal = await importOnOldNode(name, place);
    if (refusal !== undefined) problems.push(`${installer}, Node ${oldNode}: ${refusal}`);
    for (const { version, binary } of nodes) {
      const outcome = await runProgram(name, place, binary, needsCluster);
      row[`${installer}${version.split('.')[0]}`] = outcome === undefined ? 'ok' : 'FAILED';
      if (outcome !== undefined) problems.push(`${installer}, Node ${version}: ${outcome}`);
    }
    if (installer === 'pnpm') {
      const typed = await typeCheck(place);
      row.types = typed === undefined ? 'ok' : 'FAILED';
      if (typed !== undefined) problems.push(`types: ${typed}`);
    }
    rmSync(place, { recursive: true, force: true });
  }
  return row;
}

/** A Node that is too old refuses the package at import. @param {string} name @param {string} place */
async function importOnOldNode(name, place) {
  const ran = await run(old, ['--input-type=module', '--eval', `await import('@kctl/${name}')`], {
    cwd: place,
    env: cleanEnvironment(),
  });
  const isRefused = ran.code === 1 && /@kctl requires Node\.js \S+ or newer; this is \S+: install/.test(ran.output);
  return isRefused
    ? undefined
    : `exit ${ran.code}, without the sentence that names the Node: ${ran.output.slice(-2_000)}`;
}

/** @param {string} name @param {string} place @param {string} binary @param {boolean} needsCluster @returns {Promise<string | undefined>} why it failed */
async function runProgram(name, place, binary, needsCluster) {
  const { prints: expected } = firstProgram(name);
  const env = cleanEnvironment({ HOME: place, ...(needsCluster ? { KUBECONFIG: cluster.kubeconfig } : {}) });
  const isStopped = untilStopped.has(name);
  const ran = await run(binary, ['--disable-warning=ExperimentalWarning', 'first.ts'], {
    cwd: place,
    env,
    timeoutMs: 60_000,
    ...(isStopped ? { stopAfter: expected } : {}),
  });
  const hasEnded = ran.code === 0 || (isStopped && ran.code === null);
  if (hasEnded && (name === 'webhook' || expected.test(ran.output))) return undefined;
  return `exit ${ran.code}: ${ran.output.slice(-2_000)}`;
}

/** As a user's compiler does who checks libraries, too. @param {string} place @returns {Promise<string | undefined>} */
async function typeCheck(place) {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
  };
  const types = readFileSync(join(root, 'node_modules', '@types', 'node', 'package.json'), 'utf8');
  const env = cleanEnvironment({ CI: '1' });
  await must('npx', ['--yes', pnpm, 'add', '--save-dev', `@types/node@${JSON.parse(types).version}`], {
    cwd: place,
    env,
  });
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['first.ts'] }));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { code, output } = await run(process.execPath, [compiler, '-p', place], { cwd: place });
  return code === 0 ? undefined : output.slice(0, 2_000);
}

/** @param {string} place */
function countInstalled(place) {
  const lock = JSON.parse(readFileSync(join(place, 'node_modules', '.package-lock.json'), 'utf8'));
  const all = Object.keys(lock.packages);
  const foreign = all.filter((path) => !/node_modules\/@kctl\/[^/]+$/.test(path));
  return {
    own: all.length - foreign.length,
    foreign: foreign.length,
    installedMiB: sizeOf(join(place, 'node_modules')),
  };
}

/** @param {string} directory */
function sizeOf(directory) {
  let total = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) total += statSync(join(entry.parentPath, entry.name)).size;
  return Math.round((total / 1_048_576) * 10) / 10;
}

/** An embedded server of the packed @kctl/apiserver, with what the programs look for. */
async function startServer() {
  const place = join(folder, 'server');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  writeFileSync(join(place, '.npmrc'), `@kctl:registry=${registry.url}\naudit=false\nfund=false\n`);
  await must('npm', ['install', '@kctl/apiserver'], { cwd: place, env: cleanEnvironment() });
  const { createApiServer } = await import(join(place, 'node_modules', '@kctl', 'apiserver', 'dist', 'index.js'));
  const server = createApiServer();
  await server.start();
  const kubeconfig = join(place, 'kubeconfig.yaml');
  server.writeKubeconfig(kubeconfig);
  const create = (/** @type {string} */ path, /** @type {unknown} */ object) =>
    server.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/main' }] };
  await create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  await create('/api/v1/namespaces/default/pods', { metadata: { name: 'web-0' }, spec });
  await create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' }, data: { a: 'b' } });
  return { kubeconfig, stop: () => server.stop() };
}

/** @param {Record<string, any>} row */
function line({ name, tarballKiB, own, foreign, installedMiB, npm22, npm24, pnpm22, pnpm24, types, needsCluster }) {
  const cells = [
    `@kctl/${name}`,
    tarballKiB,
    own,
    foreign,
    installedMiB,
    needsCluster ? 'cluster' : '',
    npm22,
    npm24,
    pnpm22,
    pnpm24,
    types,
  ];
  return `| ${cells.map((cell) => cell ?? '').join(' | ')} |`;
}

function writeResult() {
  mkdirSync(results, { recursive: true });
  const versions = nodes.map(({ version }) => version).join(' and ');
  const text = [
    '# Packages, installed alone',
    '',
    `Last run of \`pnpm packages:try\`: each package packed, installed in an empty folder by its README's install line, its first program run on Node ${versions}, and type-checked with \`skipLibCheck: false\`. Counts are those of \`npm install\`.`,
    '',
    '| package | tarball KiB | @kctl packages | third-party packages | installed MiB | needs | npm, Node 22 | npm, Node 24 | pnpm, Node 22 | pnpm, Node 24 | types |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map(line),
    '',
  ];
  writeFileSync(join(results, 'packages.md'), text.join('\n'));
}
