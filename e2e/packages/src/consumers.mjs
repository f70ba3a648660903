// `pnpm consumers`: programs that are no ES modules on Node (Jest and NestJS in CommonJS, Bun, Deno) and bundles install
// the packed packages, import every one, and run a queue and an informer against the embedded server over TLS.
// Names of consumers as arguments try these alone; the result is written only when all are tried.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { consumers } from './consumer-projects.mjs';
import { packAll } from './pack.mjs';
import { serveRegistry } from './registry.mjs';
import { cleanEnvironment, must, nodeBinary, results, root, run } from './workspace.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const folder = mkdtempSync(join(tmpdir(), 'kctl-consumers-'));
const packages = await packAll(mkdtempSync(join(folder, 'packed-')));
const registry = await serveRegistry(packages);
const entries = packages.flatMap(({ name, manifest }) => entryPoints(name, manifest)).sort();
// Libraries that a package works with where its user has them, such as prom-client and zod.
const peers = new Set(
  packages
    .flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}))
    .filter((name) => !name.startsWith('@kctl/') && !name.startsWith('@types/')),
);
const { createApiServer } = await import(join(root, 'packages', 'apiserver', 'dist', 'index.js'));
const server = createApiServer();
await server.start();
const access = { url: server.url, certificateAuthority: server.certificateAuthority, token: server.token };

/** @type {{ name: string, version: string, steps: Record<string, string> }[]} */
const rows = [];
try {
  for (const consumer of consumers.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) {
    const place = join(folder, consumer.name);
    mkdirSync(place);
    writeFileSync(join(place, '.npmrc'), `@kctl:registry=${registry.url}\naudit=false\nfund=false\n`);
    copyFileSync(join(here, 'exercise.mjs'), join(place, 'exercise.mjs'));
    for (const [file, content] of Object.entries(consumer.files)) {
      mkdirSync(dirname(join(place, file)), { recursive: true });
      writeFileSync(join(place, file), content);
    }
    const all = [...packages.map(({ name }) => name), ...peers, ...consumer.installs];
    await must('npm', ['install', ...all], { cwd: place, env: cleanEnvironment() });
    const env = cleanEnvironment({ KCTL_SERVER: JSON.stringify(access), KCTL_ENTRIES: JSON.stringify(entries) });
    let output = '';
    for (const command of consumer.commands) {
      const [program = '', ...args] = command.map((part) => part.replace('<place>', place));
      const binary =
        program === 'node' ? await nodeBinary(consumer.node ?? '24') : join(place, 'node_modules', '.bin', program);
      const ran = await run(binary, args, {
        cwd: place,
        env: { ...env, PATH: `${dirname(await nodeBinary(consumer.node ?? '24'))}:${env.PATH}` },
        timeoutMs: 180_000,
      });
      output += ran.output;
      if (ran.code !== 0) {
        output += `\n(${program} ended with ${ran.code})`;
        break;
      }
    }
    const steps = Object.fromEntries(
      ['imports', 'queue', 'informer', 'server'].map((step) => [
        step,
        new RegExp(`^.*?\\b${step} (ok|\\d+|FAILED.*)$`, 'm').exec(output)?.[1] ?? 'missing',
      ]),
    );
    const row = { name: consumer.title, version: versionOf(place, consumer.tool), steps };
    rows.push(row);
    const isExpected = Object.entries(steps).every(
      ([step, outcome]) => passes(outcome) !== (consumer.cannot ?? []).includes(step),
    );
    console.log(isExpected ? 'ok  ' : 'FAIL', consumer.title, JSON.stringify(steps));
    if (!isExpected) {
      process.exitCode = 1;
      console.log(output.slice(-6_000));
    }
  }
} finally {
  await server.stop();
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (chosen.length === 0) writeResult();

/** @param {string} outcome */
function passes(outcome) {
  return outcome === 'ok' || /^\d+$/.test(outcome);
}

/** Every entry point but those of threads, of executables and of vitest suites. @param {string} name @param {Record<string, any>} manifest */
function entryPoints(name, manifest) {
  return Object.keys(manifest.exports)
    .filter((path) => !/package\.json|worker|thread|offload|envtest\/|conformance/.test(path))
    .map((path) => name + path.slice(1));
}

/** @param {string} place @param {string | undefined} tool */
function versionOf(place, tool) {
  if (tool === undefined) return '';
  return JSON.parse(readFileSync(join(place, 'node_modules', tool, 'package.json'), 'utf8')).version;
}

function writeResult() {
  mkdirSync(results, { recursive: true });
  const text = [
    '# Programs that are no ES modules on Node',
    '',
    `Last run of \`pnpm consumers\`: each installs the packed packages, imports every entry point (${entries.length}), runs a queue, follows ConfigMaps with an informer over TLS, and starts the embedded server in its own process.`,
    '',
    '| consumer | version | imports | queue | informer over TLS | embedded server |',
    '|---|---|---|---|---|---|',
    ...rows.map(
      ({ name, version, steps }) =>
        `| ${name} | ${version} | ${['imports', 'queue', 'informer', 'server'].map((step) => (steps[step] ?? '').split('\n')[0]?.slice(0, 120)).join(' | ')} |`,
    ),
    '',
  ];
  writeFileSync(join(results, 'consumers.md'), text.join('\n'));
}
