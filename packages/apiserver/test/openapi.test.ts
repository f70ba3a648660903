import { describe, expect, it } from 'vitest';
import { createApiServer } from '../src/index.js';

interface OpenApiDocument {
  readonly paths: Record<
    string,
    Record<string, { parameters: { name: string }[]; 'x-kubernetes-group-version-kind': unknown }>
  >;
}

describe('§2.1-5: OpenAPI v3', () => {
  it('lists a document for each group version, under a hash that changes with it', async () => {
    await using server = createApiServer({ listen: false });
    await server.start();
    const index = async (): Promise<Record<string, { serverRelativeURL: string }>> =>
      (
        (await (await server.fetch(new Request('http://local/openapi/v3'))).json()) as {
          paths: Record<string, { serverRelativeURL: string }>;
        }
      ).paths;
    const before = await index();
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1']),
    );
    expect(before['apis/apps/v1']?.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9a-f]{32}$/);
    expect(await index()).toEqual(before);
  });

  it('tells kubectl that every kind takes fieldValidation', async () => {
    await using server = createApiServer({ listen: false });
    await server.start();
    const response = await server.fetch(new Request('http://local/openapi/v3/apis/apps/v1'));
    expect(response.headers.get('content-type')).toBe('application/json');
    const { paths } = (await response.json()) as OpenApiDocument;
    const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'];
    expect(patch?.['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' });
    expect(patch?.parameters.map(({ name }) => name)).toContain('fieldValidation');
  });

  it('answers what it does not serve with a Status', async () => {
    await using server = createApiServer({ listen: false });
    await server.start();
    for (const path of ['/openapi/v2', '/openapi/v3/apis/nothing/v1', '/openapi/v3/api'])
      expect(await (await server.fetch(new Request(`http://local${path}`))).json()).toMatchObject({
        kind: 'Status',
        code: 404,
      });
  });
});
