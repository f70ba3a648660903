// The programs with which READMEs open run as they stand: pasted into a file of their own, on the cluster of a kubeconfig.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Namespace, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import type { RunningExample } from '@kctl/vitest-config/example';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
/** Inside of this package, which sees every other; the folder is not the repository's. */
const place = join(import.meta.dirname, '..', '.cache');
let folder: string;
let environment: TestEnvironment;

beforeAll(async () => {
  mkdirSync(place, { recursive: true });
  folder = mkdtempSync(join(place, 'programs-'));
  environment = await createEnvironment();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await environment.stop();
});

/** Starts the first code block of a package's README. */
function paste(packageName: string): RunningExample {
  const text = readFileSync(join(root, 'packages', packageName, 'README.md'), 'utf8');
  const program = /^```ts\n([\s\S]*?)^```/mu.exec(text)?.[1];
  if (program === undefined) throw new Error(`the README of ${packageName} has no program`);
  expect(program.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(10);
  const file = join(folder, `${packageName}.ts`);
  writeFileSync(file, program);
  return startExample(file, { env: { KUBECONFIG: environment.kubeconfigPath } });
}

async function createPod(namespace: string, name: string, nodeName: string): Promise<void> {
  const spec = { nodeName, containers: [{ name: 'main', image: 'registry.example.com/main' }] };
  await environment.client.create(Pod, { metadata: { namespace, name }, spec });
}

it('cache-index finds what it was given', async () => {
  const program = paste('cache-index');
  expect(await program.exited).toBe(0);
  expect(program.output).toBe("[ 'pay' ]\n[ 'shop/pay', 'shop/ship' ]\n");
});

it('informer prints what is there and what happens', async () => {
  const namespace = await environment.createNamespace('readme');
  await createPod(namespace, 'before', 'node-7');
  const program = paste('informer');
  await program.waitFor(`add ${namespace}/before`);
  await createPod(namespace, 'after', 'node-7');
  await program.waitFor(`add ${namespace}/after`);
  await environment.client.delete(Pod, { namespace, name: 'before' }, { gracePeriodSeconds: 0 });
  await program.waitFor(`delete ${namespace}/before`);
  await program.stop();
});

it('cache lists by field over two namespaces', async () => {
  await environment.client.create(Namespace, { metadata: { name: 'shop' } });
  await createPod('default', 'one', 'node-1');
  await createPod('shop', 'two', 'node-1');
  await createPod('shop', 'three', 'node-2');
  const program = paste('cache');
  await program.waitFor("[ 'default/one', 'shop/two' ]");
  await program.stop();
});
