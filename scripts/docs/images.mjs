// `pnpm packages:images`: executes the Dockerfiles of the pages and READMEs, stage by stage, with the packed packages in
// the place of the registry's, and starts what the image starts: an operator that reconciles on the embedded server.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { blocksOf, documents } from './documents.mjs';
import { buildImage } from '../../e2e/packages/src/dockerfile.mjs';
import { packAll } from '../../e2e/packages/src/pack.mjs';
import { serveRegistry } from '../../e2e/packages/src/registry.mjs';
import { cleanEnvironment, must, nodeBinary, root, run } from '../../e2e/packages/src/workspace.mjs';

/** An operator as in the first guide; where it runs comes by the environment, as a pod's does by its service account. */
const operator = `import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy, createManager, setupSignalHandler } from '@kctl/runtime';

const manager = await createManager({
  connection: JSON.parse(process.env['CONNECTION'] ?? '{}'),
  leaderElection: { name: 'image', namespace: 'default' },
  health: { port: 0 },
});
controllerManagedBy(manager)
  .for(ConfigMap)
  .reconcile(async ({ metadata: { name } }) => console.log('reconciled', name));
await manager.run(setupSignalHandler());
`;

process.chdir(root);
const folder = mkdtempSync(join(tmpdir(), 'kctl-images-'));
const packages = await packAll(mkdtempSync(join(folder, 'packed-')));
const registry = await serveRegistry(packages);
const { createApiServer } = await import(join(root, 'packages', 'apiserver', 'dist', 'index.js'));
const server = createApiServer();
await server.start();
const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
await server.fetch('/api/v1/namespaces/default/configmaps', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ metadata: { name: 'settings' } }),
});

let passed = 0;
let failed = 0;
try {
  for (const document of documents()) {
    for (const { text, line } of blocksOf(document).filter(({ language }) => language === 'dockerfile')) {
      try {
        console.log(`ok   ${document}:${line}: ${await tryImage(text, mkdtempSync(join(folder, 'image-')))}`);
        passed += 1;
      } catch (error) {
        console.error(`FAIL ${document}:${line}: ${error instanceof Error ? error.message : String(error)}`);
        failed += 1;
      }
    }
  }
} finally {
  await server.stop();
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} images passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** @param {string} dockerfile @param {string} place @returns {Promise<string>} what the image is */
async function tryImage(dockerfile, place) {
  const context = join(place, 'context');
  const node = await nodeBinary('24');
  const env = cleanEnvironment({ PATH: `${dirname(node)}:${process.env.PATH}`, CI: '1' });
  mkdirSync(join(context, 'src'), { recursive: true });
  writeFileSync(join(context, 'package.json'), JSON.stringify({ name: 'websites', private: true, type: 'module' }));
  writeFileSync(join(context, '.npmrc'), `@kctl:registry=${registry.url}\naudit=false\nfund=false\n`);
  for (const file of ['main.ts', 'src/main.ts']) writeFileSync(join(context, file), operator);
  const lock = ['install', '--package-lock-only'];
  await must('npm', [...lock, '@kctl/runtime', '@kctl/apimachinery'], { cwd: context, env });
  await must('npm', [...lock, '--save-dev', 'esbuild'], { cwd: context, env });
  // The registry of the scope stands in a file that the image's first COPY does not have: npm reads it from the home.
  const home = { HOME: context, npm_config_userconfig: join(context, '.npmrc') };
  const image = await buildImage(dockerfile, { context, folder: place, env: { ...env, ...home } });
  // The Node of the image is not here; another one of its release is.
  const args = image.args[0] === '/nodejs/bin/node' ? image.args.slice(1) : image.args;
  const ran = await run(node, args, {
    cwd: image.cwd,
    env: cleanEnvironment({ ...image.env, CONNECTION: JSON.stringify(connection), HOME: place }),
    stopAfter: /reconciled settings/,
    timeoutMs: 60_000,
  });
  if (!ran.output.includes('reconciled settings')) throw new Error(`exit ${ran.code}: ${ran.output.slice(-2_000)}`);
  const size = statSync(join(image.cwd, 'main.mjs')).size / 1_048_576;
  return `reconciles; main.mjs is ${size.toFixed(1)} MiB`;
}
