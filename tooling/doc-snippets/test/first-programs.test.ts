// Each package's README opens with an install line and a program that runs with what the line installs. Here the programs
// run on the sources; `pnpm packages:try` runs them with the packed packages, installed alone.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigMap, Namespace, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { firstProgram } from '@kctl/e2e-packages/readme';

const place = join(import.meta.dirname, '..', '.cache');
const names = readdirSync(join(import.meta.dirname, '..', '..', '..', 'packages'));
let folder: string;
let environment: TestEnvironment;

beforeAll(async () => {
  mkdirSync(place, { recursive: true });
  folder = mkdtempSync(join(place, 'first-'));
  environment = await createEnvironment();
  const { client } = environment;
  await client.create(Namespace, { metadata: { name: 'shop' } });
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/main' }] };
  await client.create(Pod, { metadata: { namespace: 'default', name: 'web-0' }, spec });
  await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' }, data: { a: 'b' } });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await environment.stop();
});

it.each(names)('%s: the install line has every package that the program imports, and itself first', (name) => {
  const { install, program } = firstProgram(name);
  expect(install[0]).toBe(`@kctl/${name}`);
  const imported = [...program.matchAll(/from '((?:@[^/']+\/)?[^/'.][^/']*)/g)].map(([, specifier = '']) => specifier);
  for (const specifier of imported) if (!specifier.startsWith('node:')) expect(install).toContain(specifier);
  expect(program, 'Node 22 does not parse `await using`').not.toMatch(/^(?:await )?using /m);
  if (program.includes('loadConnection')) expect(install).toContain('@kctl/kubeconfig');
});

/** The parts of the others run in these; `pnpm packages:try` runs every one. A new package is run here. */
const parts = [
  'apimachinery',
  'apiserver',
  'cel',
  'delivery',
  'http-server',
  'manager',
  'runtime',
  'simulation',
  'telemetry',
  'webhook',
];
const composed = names.filter((name) => !parts.includes(name));

it.each(composed)('%s: the program runs as printed', async (name) => {
  const { program, needsCluster, prints } = firstProgram(name);
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, program);
  // What a program leaves in the temporary folder goes with this one.
  const env = { HOME: folder, TMPDIR: folder, KUBECONFIG: needsCluster ? environment.kubeconfigPath : '' };
  const running = startExample(file, { env, cwd: folder });
  expect(await running.exited, running.output).toBe(0);
  expect(running.output).toMatch(prints);
});
