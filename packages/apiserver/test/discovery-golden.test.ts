/** OpenAPI and aggregated discovery beside a real kube-apiserver: scripts/record-openapi.mjs recorded the hashes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiServer, type ApiServer } from '../src/index.js';
import { readBuiltinDocuments } from '../src/discovery/openapi/builtin-documents.js';

interface Golden {
  readonly openapi: Readonly<Record<string, string>>;
  readonly discovery: Readonly<Record<string, { readonly etag: string; readonly protobuf: string }>>;
}
const golden = JSON.parse(readFileSync(new URL('golden/openapi.json', import.meta.url), 'utf8')) as Golden;
const openApiProtobuf = (version: string): string =>
  `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`;
const aggregated = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const protobuf = `application/vnd.kubernetes.protobuf;${aggregated}`;

let server: ApiServer;
const get = (path: string, accept = '*/*', headers: Record<string, string> = {}): Promise<Response> =>
  server.fetch(new Request(`http://local${path}`, { headers: { accept, ...headers } }));
const sha512 = async (response: Response): Promise<string> =>
  createHash('sha512')
    .update(new Uint8Array(await response.arrayBuffer()))
    .digest('hex')
    .toUpperCase();

beforeAll(async () => {
  server = createApiServer({ listen: false });
  await server.start();
});
afterAll(() => server.stop());

describe('OpenAPI', () => {
  const documents = Object.keys(golden.openapi).filter((name) => name.startsWith('v3/'));

  it.each(documents)('%s is the document of the real server, in JSON and in protobuf', async (name) => {
    const json = await get(`/openapi/${name}`);
    expect(json.headers.get('etag')).toBe(`"${await sha512(json)}"`);
    const encoded = await get(`/openapi/${name}`, openApiProtobuf('v3'));
    expect(encoded.headers.get('content-type')).toBe('application/com.github.proto-openapi.spec.v3.v1.0+protobuf');
    expect(encoded.headers.get('etag')).toBe(json.headers.get('etag'));
    expect(await sha512(encoded)).toBe(golden.openapi[name]);
  });

  it('v2 is the document of the real server, in JSON and in protobuf', async () => {
    const json = await get('/openapi/v2');
    expect(json.headers.get('etag')).toBe(`"${golden.openapi['v2'] ?? ''}"`);
    expect(await sha512(json)).toBe(golden.openapi['v2']);
    expect(await sha512(await get('/openapi/v2', openApiProtobuf('v2')))).toBe(golden.openapi['v2 protobuf']);
  });
});

describe('aggregated discovery', () => {
  it.each(['/api', '/apis'])('%s is the document of the real server, with its entity tag', async (path) => {
    const { etag, protobuf: hash } = golden.discovery[path] ?? {};
    const encoded = await get(path, protobuf);
    expect(Object.fromEntries(encoded.headers)).toMatchObject({
      'content-type': protobuf,
      'cache-control': 'public',
      vary: 'Accept',
      etag,
    });
    expect(await sha512(encoded)).toBe(hash);
    for (const type of ['application/json', 'application/yaml']) {
      const response = await get(path, `${type};${aggregated}`);
      expect([response.headers.get('content-type'), response.headers.get('etag')]).toEqual([
        `${type};${aggregated}`,
        etag,
      ]);
      expect(await response.text()).toContain('APIGroupDiscoveryList');
    }
  });

  it('is not sent again to a client that has it', async () => {
    const { etag = '' } = golden.discovery['/apis'] ?? {};
    const response = await get('/apis', protobuf, { 'if-none-match': etag });
    expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get('/apis', protobuf, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('has one version: clients that take another as well get v2, and those that do not get the legacy form or 406', async () => {
    const beta = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
    expect((await get('/apis', beta)).status).toBe(406);
    expect(((await (await get('/apis', `${beta},application/json`)).json()) as { kind: string }).kind).toBe(
      'APIGroupList',
    );
    const both = await get('/apis', `${beta},application/json;${aggregated},application/json`);
    expect(both.headers.get('content-type')).toBe(`application/json;${aggregated}`);
  });
});

// The last: it leaves a custom resource behind.
it('describes a custom resource as the real server does, byte by byte', async () => {
  const openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { n: { type: 'integer' } } },
      embedded: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  };
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const subresources = { status: {}, scale };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources }];
  const group = 'record.kctl.test';
  const names = { plural: 'samples', kind: 'Sample' };
  const created = await server.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      metadata: { name: `samples.${group}` },
      spec: { group, scope: 'Namespaced', names, versions },
    }),
  });
  expect(created.status).toBe(201);
  const json: unknown = await (await get(`/openapi/v3/apis/${group}/v1`)).json();
  expect(json).toEqual((await readBuiltinDocuments()).sample);
  expect(await sha512(await get(`/openapi/v3/apis/${group}/v1`, openApiProtobuf('v3')))).toBe(
    golden.openapi['sample protobuf'],
  );
});
