import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kctl, project } from './project.js';

const schema = (more: object): object => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer', description: 'In metres.' } }, ...more },
  },
});

function definition(kind: string, group = 'boats.example.com'): object {
  const plural = `${kind.toLowerCase()}s`;
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema({}) } }];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, uid: kind, resourceVersion: '1' },
    spec: { group, scope: 'Namespaced', names: { kind, plural }, versions },
  };
}

const gvk = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'NodeMetrics' };
const operation = (action: string): object => ({
  get: { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': gvk },
});
const metrics = {
  openapi: '3.0.0',
  paths: {
    '/apis/metrics.k8s.io/v1beta1/nodes': operation('list'),
    '/apis/metrics.k8s.io/v1beta1/nodes/{name}': operation('get'),
  },
  components: {
    schemas: {
      'io.k8s.metrics.NodeMetrics': {
        description: 'Usage of a node.',
        type: 'object',
        properties: { window: { type: 'string' } },
        'x-kubernetes-group-version-kind': [gvk],
      },
    },
  },
};

function apiService(version: string, group: string, service?: object): object {
  const name = `${version}.${group}`;
  return { metadata: { name, uid: name, resourceVersion: '1' }, spec: { group, version, ...(service && { service }) } };
}

const list = (apiVersion: string, kind: string, items: readonly object[]): object => ({
  apiVersion,
  kind,
  metadata: { resourceVersion: '1' },
  items,
});
const resources = (groupVersion: string, all: readonly object[]): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: all,
});
const groupOf = (name: string, version: string): object => ({
  name,
  versions: [{ groupVersion: `${name}/${version}`, version }],
});

const nodes = {
  name: 'nodes',
  singularName: '',
  namespaced: false,
  kind: 'NodeMetrics',
  verbs: ['get', 'list', 'watch'],
};
const service = { namespace: 'kube-system', name: 'metrics' };
const crdApi = 'apiextensions.k8s.io/v1';
const serviceApi = 'apiregistration.k8s.io/v1';

/** A cluster with a definition, an aggregated API, and another one whose server is gone. */
const answers: Readonly<Record<string, object>> = {
  [`/apis/${crdApi}/customresourcedefinitions`]: list(crdApi, 'CustomResourceDefinitionList', [definition('Boat')]),
  [`/apis/${serviceApi}/apiservices`]: list(serviceApi, 'APIServiceList', [
    apiService('v1beta1', 'metrics.k8s.io', service),
    apiService('v1', 'gone.example.com', service),
    apiService('v1', 'boats.example.com'),
    apiService('v1', 'apps'),
  ]),
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': resources('v1', []),
  '/apis': { kind: 'APIGroupList', groups: [groupOf('metrics.k8s.io', 'v1beta1'), groupOf('gone.example.com', 'v1')] },
  '/apis/metrics.k8s.io/v1beta1': resources('metrics.k8s.io/v1beta1', [nodes]),
  '/openapi/v3/apis/metrics.k8s.io/v1beta1': metrics,
};

async function fakeCluster(folder: string): Promise<{ kubeconfig: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const answer = answers[(request.url ?? '').replace(/\?.*$/, '')];
    const missing = request.url?.startsWith('/openapi') === true ? 503 : 404;
    response.writeHead(answer === undefined ? missing : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { kind: 'Status', code: missing, message: 'no endpoints' }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(folder, 'kubeconfig.json');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'fake', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'fake', user: {} }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
      'current-context': 'fake',
    }),
  );
  return {
    kubeconfig,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('generate kinds', () => {
  it('writes the kinds of definitions and of aggregated APIs of a cluster, and names the API that does not answer', async () => {
    const folder = project();
    await using cluster = await fakeCluster(folder);
    const given = ['generate', 'kinds', '--from', 'cluster', '--kubeconfig', cluster.kubeconfig];
    const first = await kctl(folder, ...given);
    expect(first).toMatchObject({
      code: 0,
      out: 'wrote src/kinds/boats.example.com/v1.ts\nwrote src/kinds/metrics.k8s.io/v1beta1.ts\n',
    });
    expect(first.err).toMatch(/^kctl: the kinds of gone\.example\.com\/v1 are left out: .*503/);
    const text = readFileSync(join(folder, 'src', 'kinds', 'metrics.k8s.io', 'v1beta1.ts'), 'utf8');
    expect(text).toContain('/** Usage of a node. */\nexport interface NodeMetrics extends KubeObject');
    expect(text).toContain('The server takes get, list, watch.'); // discovery says more than the paths
    expect(await kctl(folder, ...given)).toMatchObject({ code: 0, out: '2 unchanged\n' });
  });

  it('fails with --check where a module is missing or out of date, and writes nothing', async () => {
    const folder = project();
    mkdirSync(join(folder, 'crds'));
    writeFileSync(join(folder, 'crds', 'boat.yaml'), JSON.stringify(definition('Boat')));
    const given = ['generate', 'kinds', '--from', 'crds'];
    const target = join(folder, 'src', 'kinds', 'boats.example.com', 'v1.ts');
    const missing = await kctl(folder, ...given, '--check');
    expect(missing.code).toBe(3);
    expect(missing.err).toContain('src/kinds/boats.example.com/v1.ts: run npx kctl generate kinds');
    await kctl(folder, ...given);
    expect(await kctl(folder, ...given, '--check')).toMatchObject({ code: 0, out: '1 unchanged\n' });
    const text = readFileSync(target, 'utf8');
    writeFileSync(target, text.replaceAll('\n', '\r\n'));
    expect(await kctl(folder, ...given, '--check')).toMatchObject({ code: 0 });
    writeFileSync(target, `${text}// edited\n`);
    expect(await kctl(folder, ...given, '--check')).toMatchObject({ code: 3 });
    expect(readFileSync(target, 'utf8')).toContain('// edited');
    const json = await kctl(folder, ...given, '--json');
    const paths = ['src/kinds/boats.example.com/v1.ts'];
    expect(JSON.parse(json.out)).toEqual({ written: paths, unchanged: [], removed: [] });
    expect(readFileSync(target, 'utf8')).toBe(text);
  });

  it('does not write over a module of the author unless it is asked to', async () => {
    const folder = project();
    writeFileSync(join(folder, 'boat.yaml'), JSON.stringify(definition('Boat')));
    const target = join(folder, 'src', 'kinds', 'boats.example.com', 'v1.ts');
    mkdirSync(join(target, '..'), { recursive: true });
    writeFileSync(target, 'export const mine = 1;\n');
    const given = ['generate', 'kinds', '--from', 'boat.yaml'];
    expect(await kctl(folder, ...given)).toEqual({
      code: 1,
      out: '',
      err: 'kctl: src/kinds/boats.example.com/v1.ts was not written by kctl, and nothing was changed: move it away, or have it overwritten by npx kctl generate kinds --overwrite\n',
    });
    expect(readFileSync(target, 'utf8')).toBe('export const mine = 1;\n');
    expect(await kctl(folder, ...given, '--overwrite')).toMatchObject({ code: 0 });
    writeFileSync(target, `/* of a company */\n${readFileSync(target, 'utf8')}`);
    expect(await kctl(folder, ...given)).toMatchObject({ code: 0, out: expect.stringMatching(/^wrote /) });
  });

  it('reads definitions as kubectl does', async () => {
    const folder = project();
    const text = JSON.stringify(definition('Boat')).replace('"type":"integer"', '"type":"boolean","enum":[yes]');
    writeFileSync(join(folder, 'boat.yaml'), text);
    await kctl(folder, 'generate', 'kinds', '--from', 'boat.yaml');
    const module = readFileSync(join(folder, 'src', 'kinds', 'boats.example.com', 'v1.ts'), 'utf8');
    expect(module).toContain('size?: true;');
  });

  it('takes a List of kubectl and OpenAPI documents in files, and writes the groups that are named', async () => {
    const folder = project();
    mkdirSync(join(folder, 'from'));
    const crds = {
      apiVersion: 'v1',
      kind: 'List',
      items: [definition('Boat'), definition('Pond', 'ponds.example.com')],
    };
    writeFileSync(join(folder, 'from', 'crds.json'), JSON.stringify(crds));
    writeFileSync(join(folder, 'from', 'metrics.json'), JSON.stringify(metrics));
    const given = ['generate', 'kinds', '--from', 'from'];
    const some = await kctl(folder, ...given, '--group', 'ponds.example.com', 'metrics.k8s.io');
    expect(some.out).toBe('wrote src/kinds/metrics.k8s.io/v1beta1.ts\nwrote src/kinds/ponds.example.com/v1.ts\n');
    const none = await kctl(folder, ...given, '--group', 'pond.example.com');
    expect(none).toMatchObject({ code: 1, out: '' });
    expect(none.err).toContain(
      'from has no kinds of pond.example.com: its groups are boats.example.com, metrics.k8s.io, ponds.example.com',
    );
  });

  it.each([
    [
      'what is no definition',
      'kind: Pod\napiVersion: v1\n',
      /there is no CustomResourceDefinition or OpenAPI v3 document/,
    ],
    ['names that are none', JSON.stringify(definition("B'oat")), /from\.yaml: defineKind: kind "B'oat" is not valid/],
    ['what is no YAML', '{', /from\.yaml/],
  ])('refuses %s', async (_name, text, message) => {
    const folder = project();
    writeFileSync(join(folder, 'from.yaml'), text);
    const found = await kctl(folder, 'generate', 'kinds', '--from', 'from.yaml');
    expect(found.code).toBe(1);
    expect(found.err).toMatch(message);
  });
});
