import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { defineKind, type KubeObject } from '@kctl/apimachinery';
import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runKctl } from '../src/index.js';
import { kctl, project } from './project.js';

interface Shop extends KubeObject {
  spec: { theme: string };
}
const Shop = defineKind<Shop>()({ group: 'plan.example.com', version: 'v1', kind: 'Shop', scope: 'Namespaced' });

const source = `
import { defineKind } from '@kctl/apimachinery';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { defineOperator } from '@kctl/operator';
import { controllerManagedBy, dependents } from '@kctl/runtime';
const Shop = defineKind()({ group: 'plan.example.com', version: 'v1', kind: 'Shop', scope: 'Namespaced' });
export const children = dependents(Shop, { fieldOwner: 'shop.example.com' })
  .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { theme: spec.theme, release: 'first' } }) })
  .child('token', Secret, { desired: () => ({ data: { token: btoa('hidden-first') } }) });
export const operator = defineOperator({
  name: 'shops',
  setup(manager) {
    controllerManagedBy(manager).for(Shop).dependents(children).complete(children.reconciler());
  },
});
`;

let environment: TestEnvironment;
let cluster: readonly string[];
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded', crds: [Shop] });
  cluster = ['--kubeconfig', environment.kubeconfigPath];
});
afterAll(() => environment.stop());

describe('kctl plan', () => {
  let namespace: string;
  let folder: string;
  let release: (to: string) => void;
  /** Brings the children to what the code of the folder wants. */
  let reconcile: () => Promise<void>;

  beforeEach(async () => {
    namespace = await environment.createNamespace('plan');
    folder = project();
    const main = join(folder, 'src', 'main.ts');
    writeFileSync(main, source);
    release = (to) => {
      // A module is loaded once in a process, so that each version is another file.
      writeFileSync(join(folder, 'src', `${to}.ts`), readFileSync(main, 'utf8').replaceAll('first', to));
    };
    for (const name of ['a', 'b'])
      await environment.client.create(Shop, { metadata: { namespace, name }, spec: { theme: 'dark' } });
    reconcile = async () => {
      const { children } = (await import(main)) as {
        children: { reconcile(object: unknown, context: object): Promise<unknown> };
      };
      const { items } = await environment.client.list(Shop, { namespace });
      for (const object of items) await children.reconcile(object, { client: environment.client });
    };
  });

  it('shows what would be created, and exits with 2', async () => {
    const { code, out, err } = await kctl(folder, 'plan', '-n', namespace, ...cluster);
    expect(out.split('\n')).toEqual([
      `Shop ${namespace}/a`,
      `  + ConfigMap ${namespace}/a-config: created (config)`,
      '      data.theme: "dark"',
      '      data.release: "first"',
      `  + Secret ${namespace}/a-token: created (token)`,
      '      data.token: (not shown)',
      `Shop ${namespace}/b`,
      `  + ConfigMap ${namespace}/b-config: created (config)`,
      '      data.theme: "dark"',
      '      data.release: "first"',
      `  + Secret ${namespace}/b-token: created (token)`,
      '      data.token: (not shown)',
      '2 objects planned: 4 created',
      '',
    ]);
    expect(err).toBe('kctl: the children of 2 objects would change\n');
    expect(code).toBe(2);
    await expect(environment.client.get(ConfigMap, { namespace, name: 'a-config' })).rejects.toThrow('not found');
  });

  it('exits with 0 once nothing would change', async () => {
    await reconcile();
    expect(await kctl(folder, 'plan', '--namespace', namespace, ...cluster)).toEqual({
      code: 0,
      out: '2 objects planned: no changes\n',
      err: '',
    });
  });

  it('shows the values of a new version, except those of Secrets', async () => {
    await reconcile();
    release('second');
    const main = ['--main', 'src/second.ts'];
    const { code, out } = await kctl(folder, 'plan', 'shop/a', '-n', namespace, ...main, ...cluster);
    expect(out.split('\n')).toEqual([
      `Shop ${namespace}/a`,
      `  ~ ConfigMap ${namespace}/a-config: applied (config)`,
      '      data.release: "first" → "second"',
      `  ~ Secret ${namespace}/a-token: applied (token)`,
      '      data.token: (not shown)',
      '1 object planned: 2 applied',
      '',
    ]);
    expect(code).toBe(2);
    const json = await kctl(folder, 'plan', 'shops.plan.example.com', '--json', '-n', namespace, ...main, ...cluster);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({ planned: 2, objects: [{ object: `Shop ${namespace}/a` }, {}] });
    for (const text of [out, json.out]) expect(text).not.toContain(btoa('hidden-second'));
    const { data } = await environment.client.get(Secret, { namespace, name: 'a-token' });
    expect(data).toEqual({ token: btoa('hidden-first') });
  });

  it('exits with 1 if a node would fail', async () => {
    await environment.client.create(ConfigMap, { metadata: { namespace, name: 'a-config' } });
    const { code, out, err } = await kctl(folder, 'plan', 'shop/a', '-n', namespace, ...cluster);
    expect(out).toContain('  ! config: failed: ConfigMap');
    expect(err).toBe('kctl: the children of 1 object would fail: see the lines with !\n');
    expect(code).toBe(1);
  });

  it('shows colours in a terminal alone', async () => {
    let out = '';
    const io = { cwd: folder, environment: {}, err: () => undefined, signal: new AbortController().signal };
    const colour = { colour: true, out: (text: string) => void (out += text) };
    await runKctl({ ...io, ...colour }, ['plan', 'shop/a', '-n', namespace, ...cluster]);
    const created = `  + ConfigMap ${namespace}/a-config: created (config)`;
    expect(out).toContain(`${styleText('green', created, { validateStream: false })}\n`);
  });

  it.each([
    [['plan', 'shop', '--frobnicate'], "kctl: unknown option '--frobnicate'"],
    [['plan', 'page/a'], 'kctl: "page" has no declared children: expected one of Shop.plan.example.com'],
    [['plan', '--timeout', '0'], 'expected seconds, above 0'],
    [['plan', 'a/b/c'], 'kctl: "a/b/c" is not an object: expected kind/name'],
    [['plan', '--namespace', ''], "kctl: option '-n, --namespace <name>' has an empty value"],
  ])('exits with 1 if it is called wrongly: %s', async (words, message) => {
    const { code, err } = await kctl(folder, ...words, ...cluster);
    expect(err).toContain(message);
    expect(code).toBe(1);
  });

  it.each([
    ['no answer', false, 'the objects are not listed yet'],
    ['the list of objects alone', true, '0 of 2 objects are planned'],
  ])('ends after one time limit for all requests if the server falls silent: %s', async (_what, lists, state) => {
    const object = (name: string) => ({ metadata: { namespace, name, uid: name, resourceVersion: '1' }, spec: {} });
    const list = { apiVersion: Shop.apiVersion, kind: 'ShopList', metadata: { resourceVersion: '1' } };
    const silent = createServer((request, response) => {
      if (!lists || !(request.url ?? '').includes('/shops')) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...list, items: [object('a'), object('b')] }));
    });
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const address = silent.address();
    const server = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const kubeconfig = join(folder, 'silent.yaml');
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'silent', cluster: { server } }],
        contexts: [{ name: 'silent', context: { cluster: 'silent' } }],
        'current-context': 'silent',
      }),
    );
    const { code, err } = await kctl(folder, 'plan', '--timeout', '0.5', '--kubeconfig', kubeconfig);
    silent.closeAllConnections();
    silent.close();
    expect(err).toContain(`the server has not answered all requests within 0.5 s, and ${state}`);
    expect(code).toBe(1);
  });

  it('lets no request of setup through, which may be a write', async () => {
    const main = join(folder, 'src', 'setup.ts');
    const call = `await manager.liveClient.create(ConfigMap, { metadata: { namespace: '${namespace}', name: 'seed' } });`;
    const eager = source.replace('  setup(manager) {', `  async setup(manager) {\n    ${call}`);
    writeFileSync(main, eager);
    const { code, err } = await kctl(folder, 'plan', '-n', namespace, '--main', 'src/setup.ts', ...cluster);
    expect(
      (await environment.client.list(ConfigMap, { namespace })).items.map((each) => each.metadata.name),
    ).not.toContain('seed');
    expect(err).toContain('setup must not send requests');
    expect(code).toBe(1);
  });

  it('exits with 1 for an operator without declared children', async () => {
    const { code, err } = await kctl(project(), 'plan', ...cluster);
    expect(err).toContain('no controller of the operator declares children');
    expect(code).toBe(1);
  });
});
