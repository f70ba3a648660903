// The runner of operators: the program as it runs, its namespace, and what is left when something fails.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap, Namespace, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createEnvironment, runOperator } from '../src/index.js';
import type { OperatorRun, RunOperatorOptions, TestEnvironment } from '../src/index.js';

const program = join(import.meta.dirname, 'programs', 'operator.ts');
// The sources of this workspace, not what was built of them.
const command = [process.execPath, '--conditions=@kctl/source', '--import', tsHook(), program];
let environment: TestEnvironment;
beforeAll(async () => void (environment = await createEnvironment({ server: 'embedded' })));
afterAll(async () => await environment.stop());

/** Node strips types; imports of `./x.js` mean `./x.ts` here. */
function tsHook(): string {
  const hook = `export const resolve = (specifier, context, next) =>
    next(specifier, context).catch((error) => {
      if (!specifier.startsWith('.') || !specifier.endsWith('.js')) throw error;
      return next(specifier.slice(0, -3) + '.ts', context);
    });`;
  const url = `data:text/javascript,${encodeURIComponent(hook)}`;
  return `data:text/javascript,${encodeURIComponent(`import { register } from 'node:module'; register(${JSON.stringify(url)});`)}`;
}

const run = <T>(options: Partial<RunOperatorOptions>, test: (run: OperatorRun) => T): Promise<Awaited<T>> =>
  runOperator({ environment, program: command, readyTimeoutMs: 60_000, ...options }, test) as Promise<Awaited<T>>;

it('runs the program in a namespace that goes with a test that passes', async () => {
  const seen = await run({ env: { WORD: 'hello' }, arguments: ['--flag'] }, async ({ namespace, output }) => {
    const { data } = await environment.client.get(ConfigMap, { namespace, name: 'made' });
    return { data, output, namespace };
  });
  expect(seen).toMatchObject({ data: { word: 'hello' }, output: expect.stringMatching(/^made it --flag\n/m) });
  const namespaces = await environment.client.list(Namespace);
  const left = namespaces.items.find(({ metadata }) => metadata.name === seen.namespace);
  expect(left?.metadata.deletionTimestamp ?? 'gone').toBeTruthy();
});

it('keeps and dumps the namespace of a test that fails, without the values of Secrets', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-dump-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  let kept = '';
  const failing = run({ dumpFolder: folder }, async ({ namespace }) => {
    kept = namespace;
    await environment.client.create(Secret, { metadata: { namespace, name: 's' }, stringData: { token: 'hidden' } });
    throw new Error('not as expected');
  });
  await expect(failing).rejects.toThrow(
    /not as expected\nnamespace operator-\S+ is kept, and dumped to .*\n.*made it/s,
  );
  expect((await environment.client.get(Namespace, { name: kept })).metadata.deletionTimestamp).toBeUndefined();
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['configmaps.yaml', 'operator.log', 'secrets.yaml']));
  expect(await readFile(join(folder, 'configmaps.yaml'), 'utf8')).toMatch(/name: made/);
  const secrets = await readFile(join(folder, 'secrets.yaml'), 'utf8');
  expect([secrets.includes('token'), secrets.includes(Buffer.from('hidden').toString('base64'))]).toEqual([
    true,
    false,
  ]);
});

it('says that the operator ended by itself, was not ready or did not end well, with its output', async () => {
  const dumpFolder = await mkdtemp(join(tmpdir(), 'kctl-dump-'));
  onTestFinished(() => rm(dumpFolder, { recursive: true }));
  const [failed, unready, dirty] = await Promise.all(
    [
      run({ dumpFolder, arguments: ['--fail'] }, () => undefined),
      run({ dumpFolder, readyTimeoutMs: 1000, ready: () => false }, () => undefined),
      run({ dumpFolder, arguments: ['--dirty'], ready: /made it/ }, () => undefined),
    ].map((one) => one.catch((error: unknown) => String(error))),
  );
  expect(failed).toMatch(/the operator ended by itself with exit code 1\n.*broken operator/s);
  expect(unready).toContain('the operator is not ready');
  expect(dirty).toContain('the operator ended with exit code 3 after SIGTERM');
});

it('runs the built program instead where KCTL_TEST_PROGRAM names one', async () => {
  vi.stubEnv(
    'KCTL_TEST_PROGRAM',
    `"${process.execPath}" -e "setInterval(Object, 1e6); process.once('SIGTERM', () => process.exit()); console.log(1+1)"`,
  );
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await run({ ready: /2/ }, ({ output }) => output)).toBe('2\n');
});

it('refuses options that are not valid', async () => {
  await expect(run({ when: 1 } as never, () => undefined)).rejects.toThrow('runOperator: unknown option "when"');
  await expect(run({ program: '' }, () => undefined)).rejects.toThrow('program is empty');
  await expect(run({ stopTimeoutMs: -1 }, () => undefined)).rejects.toThrow('stopTimeoutMs -1');
});
