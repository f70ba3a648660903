import { onTestFinished, describe, expect, it } from 'vitest';
import { createApiServer } from '../src/index.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
  readonly [extension: `x-${string}`]: unknown;
}
type Operations = Record<string, { parameters: { name: string }[]; 'x-kubernetes-group-version-kind': unknown }>;
interface Document {
  readonly paths: Record<string, Operations>;
  readonly components: { readonly schemas: Record<string, Schema> };
  readonly definitions: Record<string, Schema>;
}

interface Harness {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  document(path: string): Promise<Document>;
  hashes(): Promise<Record<string, string>>;
  define(plural: string, spec: object, versions?: readonly string[]): Promise<void>;
  send(method: string, path: string, body?: unknown): Promise<Response>;
}

async function start(): Promise<Harness> {
  const server = createApiServer({ listen: false });
  onTestFinished(() => server.stop());
  await server.start();
  const get: Harness['get'] = (path, headers = {}) =>
    server.fetch(new Request(`http://local${path}`, { headers, redirect: 'manual' }));
  const send: Harness['send'] = (method, path, body) =>
    server.fetch(
      new Request(`http://local${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  return {
    get,
    send,
    document: async (path) => (await (await get(path)).json()) as Document,
    async hashes() {
      const { paths } = (await (await get('/openapi/v3')).json()) as {
        paths: Record<string, { serverRelativeURL: string }>;
      };
      return Object.fromEntries(Object.entries(paths).map(([path, { serverRelativeURL: url }]) => [path, url]));
    },
    async define(plural, spec, versions = ['v1']) {
      const openAPIV3Schema = { type: 'object', description: 'What the test defines.', properties: { spec } };
      const served = versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema },
        subresources: { status: {} },
      }));
      const response = await send('POST', crds, {
        metadata: { name: `${plural}.o.kctl.test` },
        spec: { group: 'o.kctl.test', scope: 'Namespaced', names: { plural, kind: `K${plural}` }, versions: served },
      });
      expect(response.status).toBe(201);
    },
  };
}

describe('§2.1-5: OpenAPI v3', () => {
  it('lists a document for each group version, under the hash of its content', async () => {
    const h = await start();
    const before = await h.hashes();
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining(['version', 'api', 'api/v1', 'apis/apps', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1']),
    );
    expect(before['apis/apps/v1']).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
    expect(await h.hashes()).toEqual(before);
    const response = await h.get(before['apis/apps/v1'] ?? '');
    const hash = before['apis/apps/v1']?.split('=')[1] ?? '';
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, immutable',
      etag: `"${hash}"`,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(
      Buffer.from(await crypto.subtle.digest('SHA-512', bytes))
        .toString('hex')
        .toUpperCase(),
    ).toBe(hash);
  });

  it('sends a client with an old hash to the present one, and nothing to one that has the document', async () => {
    const h = await start();
    const moved = await h.get('/openapi/v3/apis/apps/v1?hash=AB');
    expect(moved.status).toBe(301);
    expect(moved.headers.get('location')).toBe((await h.hashes())['apis/apps/v1']);
    const etag = (await h.get('/openapi/v3/apis/apps/v1')).headers.get('etag') ?? '';
    expect((await h.get('/openapi/v3/apis/apps/v1', { 'if-none-match': `W/"x", ${etag}` })).status).toBe(304);
    expect((await h.get('/openapi/v3/apis/apps/v1', { 'if-none-match': '"x"' })).status).toBe(200);
  });

  it('describes the fields of built-in kinds, and the operations with their parameters', async () => {
    const h = await start();
    const { paths, components } = await h.document('/openapi/v3/apis/apps/v1');
    const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'];
    expect(patch).toMatchObject({
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
    });
    expect(patch?.parameters.map(({ name }) => name)).toContain('fieldValidation');
    const container = components.schemas['io.k8s.api.core.v1.Container'];
    expect(container?.description).toBe('A single application container that you want to run within a pod.');
    expect(container?.properties?.['ports']).toMatchObject({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-patch-merge-key': 'containerPort',
    });
    expect(container?.properties?.['image']?.description).toMatch(/^Container image name\. More info: /);
    const kinds = Object.values(components.schemas).flatMap((schema) => schema['x-kubernetes-group-version-kind']);
    expect(kinds).toContainEqual({ group: 'apps', version: 'v1', kind: 'DeploymentList' });
  });

  it('describes custom resources, and follows their definitions', async () => {
    const h = await start();
    const before = await h.hashes();
    await h.define(
      'as',
      { type: 'object', description: 'Wanted.', properties: { n: { type: 'integer', default: 3 } } },
      ['v1', 'v1beta1'],
    );
    const first = await h.hashes();
    expect(Object.keys(first).filter((path) => before[path] === undefined)).toEqual([
      'apis/o.kctl.test/v1',
      'apis/o.kctl.test/v1beta1',
    ]);
    const { components, paths } = await h.document(first['apis/o.kctl.test/v1'] ?? '');
    expect(components.schemas['test.kctl.o.v1.Kas']).toMatchObject({
      description: 'What the test defines.',
      properties: { spec: { description: 'Wanted.', properties: { n: { type: 'integer', default: 3 } } } },
      'x-kubernetes-group-version-kind': [{ group: 'o.kctl.test', version: 'v1', kind: 'Kas' }],
    });
    expect(paths['/apis/o.kctl.test/v1/namespaces/{namespace}/as/{name}/status']).toHaveProperty('patch');
    for (const [, name] of JSON.stringify({ components, paths }).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(components.schemas).toHaveProperty([name ?? '']);

    await h.define('bs', { type: 'object' });
    const second = await h.hashes();
    expect(second['apis/o.kctl.test/v1']).not.toBe(first['apis/o.kctl.test/v1']);
    expect(second['apis/o.kctl.test/v1beta1']).toBe(first['apis/o.kctl.test/v1beta1']);
    await h.send('DELETE', `${crds}/as.o.kctl.test`);
    const third = await h.hashes();
    expect(third).not.toHaveProperty(['apis/o.kctl.test/v1beta1']);
    expect(Object.keys((await h.document(third['apis/o.kctl.test/v1'] ?? '')).components.schemas)).not.toContain(
      'test.kctl.o.v1.Kas',
    );
  });

  it('answers what it does not have with empty answers', async () => {
    const h = await start();
    for (const [path, status] of [
      ['/openapi/v3/apis/nothing/v1', 404],
      ['/openapi/v3/api/v1/pods', 404],
      ['/openapi', 404],
      ['/openapi/v4', 404],
    ] as const)
      expect([path, (await h.get(path)).status]).toEqual([path, status]);
    for (const path of ['/openapi/v3/apis/apps/v1', '/openapi/v2']) {
      const response = await h.get(path, { accept: 'text/plain' });
      expect([response.status, await response.text()]).toEqual([406, '']);
    }
  });
});

describe('§2.1-6: OpenAPI v2', () => {
  it('is one document of built-in kinds and custom resources', async () => {
    const h = await start();
    const bare = await h.get('/openapi/v2');
    const { definitions } = (await bare.json()) as Document;
    expect(definitions['io.k8s.api.core.v1.PodSpec']?.properties?.['containers']).toMatchObject({
      type: 'array',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
    const nullable = { type: 'string', nullable: true, description: 'May be null.' };
    await h.define('as', { type: 'object', properties: { nullable, n: { type: 'integer', default: 3 } } });
    const response = await h.get('/openapi/v2');
    expect(response.headers.get('etag')).not.toBe(bare.headers.get('etag'));
    const more = (await response.json()) as Document;
    expect(Object.keys(more.definitions)).toEqual([
      ...Object.keys(definitions),
      'test.kctl.o.v1.Kas',
      'test.kctl.o.v1.KasList',
    ]);
    expect(more.definitions['test.kctl.o.v1.Kas']?.properties?.['spec']?.properties).toEqual({
      nullable: { description: 'May be null.' },
      n: { type: 'integer' },
    });
    expect(more.paths['/apis/o.kctl.test/v1/as']?.['get']).toMatchObject({ 'x-kubernetes-action': 'list' });
  });

  it('is served in protobuf, by either of its names', async () => {
    const h = await start();
    await h.define('as', {
      type: 'object',
      properties: { marker: { type: 'string', description: 'Unlikely words.' } },
    });
    for (const accept of [protobuf, protobuf.replace('@', '.')]) {
      const response = await h.get('/openapi/v2', { accept: `${accept}, application/json;q=0.5` });
      expect(response.headers.get('content-type')).toBe(protobuf.replace('@', '.'));
      const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
      expect(text.startsWith('\n\x032.0')).toBe(true);
      expect(text).toContain('io.k8s.api.core.v1.PodSpec');
      expect(text).toContain('Unlikely words.');
    }
  });
});
