import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness } from './harness.js';

const names = (list: { items: { metadata: { name: string } }[] }) => list.items.map((item) => item.metadata.name);

describe('GET and LIST', () => {
  it('§2.3-14: an absent object answers 404 with the plural in the details', async () => {
    const h = await harness();
    const answer = await h.get(`${configMaps}/nope`);
    expect([answer.status, answer.body.message, answer.body.details]).toEqual([
      404,
      'configmaps "nope" not found',
      { name: 'nope', kind: 'configmaps' },
    ]);
  });

  it('§2.3-15: a list is sorted by key, carries the global revision, and is empty for a missing namespace', async () => {
    const h = await harness();
    for (const name of ['b', 'a', 'a-b', 'a.b']) await h.post(configMaps, configMap(name));
    const list = await h.get('/api/v1/configmaps');
    expect(names(list.body)).toEqual(['a', 'a-b', 'a.b', 'b']);
    expect(list.body.items[0].kind).toBeUndefined();
    const empty = await h.get('/api/v1/namespaces/none/configmaps');
    expect([empty.status, empty.body.items, empty.body.metadata.resourceVersion]).toEqual([
      200,
      [],
      String(h.server.revision),
    ]);
  });

  it('§2.3-16: pages show the state of the first page, whatever is written meanwhile', async () => {
    const h = await harness();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await h.post(configMaps, configMap(name));
    const first = await h.get(`${configMaps}?limit=2`);
    expect([names(first.body), first.body.metadata.remainingItemCount]).toEqual([['a', 'b'], 3]);
    const token = first.body.metadata.continue;
    expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toEqual({
      v: 'meta.k8s.io/v1',
      rv: Number(first.body.metadata.resourceVersion),
      start: '/b\u0000',
    });
    await h.delete(`${configMaps}/c`);
    await h.post(configMaps, configMap('bb'));
    const second = await h.get(`${configMaps}?limit=2&continue=${token}`);
    expect([names(second.body), second.body.metadata.resourceVersion]).toEqual([
      ['c', 'd'],
      first.body.metadata.resourceVersion,
    ]);
    const last = await h.get(`${configMaps}?limit=2&continue=${second.body.metadata.continue}`);
    expect([names(last.body), last.body.metadata.continue]).toEqual([['e'], undefined]);
  });

  it('§2.3-16: with a selector there is no remainingItemCount; a bad or combined token answers 400; limit=-1 is ignored', async () => {
    const h = await harness();
    for (const name of ['a', 'b', 'c']) await h.post(configMaps, configMap(name, { l: '1' }));
    const page = await h.get(`${configMaps}?limit=1&labelSelector=l`);
    expect([names(page.body), 'remainingItemCount' in page.body.metadata]).toEqual([['a'], false]);
    expect((await h.get(`${configMaps}?continue=${page.body.metadata.continue}&resourceVersion=5`)).body.message).toBe(
      'specifying resource version is not allowed when using continue',
    );
    expect((await h.get(`${configMaps}?continue=notatoken`)).status).toBe(400);
    expect(names((await h.get(`${configMaps}?limit=-1`)).body)).toHaveLength(3);
  });

  it('§2.3-17: resourceVersion=0 ignores the limit; a future one answers 504 after waiting, or what came meanwhile', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a'));
    await h.post(configMaps, configMap('b'));
    expect(names((await h.get(`${configMaps}?resourceVersion=0&limit=1`)).body)).toHaveLength(2);
    const future = h.server.revision + 1;
    const waiting = h.get(`${configMaps}?resourceVersion=${future}`);
    await settle();
    await h.post(configMaps, configMap('c'));
    expect(names((await waiting).body)).toHaveLength(3);
    const late = h.get(`${configMaps}/a?resourceVersion=99999`);
    await settle();
    await h.clock.advance(3000);
    const answer = await late;
    expect([answer.status, answer.body.reason, answer.body.details]).toEqual([
      504,
      'Timeout',
      { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
    ]);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('§2.3-18: Exact serves history, what is compacted answers 410, what cannot be answers 422 or 400', async () => {
    const h = await harness();
    const a = await h.post(configMaps, configMap('a'));
    await h.post(configMaps, configMap('b'));
    const at = a.body.metadata.resourceVersion;
    expect(names((await h.get(`${configMaps}?resourceVersion=${at}&resourceVersionMatch=Exact`)).body)).toEqual(['a']);
    h.server.compact();
    const gone = await h.get(`${configMaps}?resourceVersion=${at}&resourceVersionMatch=Exact`);
    expect([gone.status, gone.body.reason, gone.body.message]).toEqual([
      410,
      'Expired',
      'The resourceVersion for the provided list is too old.',
    ]);
    expect((await h.get(`${configMaps}?resourceVersion=0&resourceVersionMatch=Exact`)).status).toBe(422);
    expect((await h.get(`${configMaps}?resourceVersionMatch=NotOlderThan`)).status).toBe(422);
    expect((await h.get(`${configMaps}?resourceVersion=abc`)).status).toBe(400);
    expect((await h.get(`${configMaps}?resourceVersion=abc&watch=1`)).status).toBe(500);
  });

  it('§2.3-19: an expired continue token answers 410 with another one that goes on', async () => {
    const h = await harness();
    for (const name of ['a', 'b', 'c']) await h.post(configMaps, configMap(name));
    const first = await h.get(`${configMaps}?limit=1`);
    await h.delete(`${configMaps}/b`);
    h.server.compact();
    const expired = await h.get(`${configMaps}?limit=1&continue=${first.body.metadata.continue}`);
    expect([expired.status, expired.body.reason]).toEqual([410, 'Expired']);
    const rest = await h.get(`${configMaps}?continue=${expired.body.metadata.continue}`);
    expect(names(rest.body)).toEqual(['c']);
  });

  it('§2.3-20: selectors filter, and bad ones answer 400 in the words of upstream', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a', { x: '1' }));
    await h.post(configMaps, configMap('b', { x: '2' }));
    expect(names((await h.get(`${configMaps}?labelSelector=x+in+(1,3)`)).body)).toEqual(['a']);
    expect(names((await h.get(`${configMaps}?labelSelector=x!%3D1`)).body)).toEqual(['b']);
    expect(names((await h.get(`${configMaps}?fieldSelector=metadata.name%3Db`)).body)).toEqual(['b']);
    const bad = await h.get(`${configMaps}?labelSelector=%3Dx`);
    expect([bad.status, bad.body.message]).toEqual([400, `found '=', expected: !, identifier, or 'end of string'`]);
    const field = await h.get(`${configMaps}?fieldSelector=data.a%3Db`);
    expect([field.status, field.body.message]).toEqual([
      400,
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ]);
  });

  it('§2.1: discovery, version and health', async () => {
    const h = await harness();
    expect((await h.get('/healthz')).text).toBe('ok');
    expect((await h.get('/readyz?verbose')).text).toMatch(/\[\+\]ping ok/);
    expect((await h.get('/version')).body.major).toBe('1');
    const aggregated = await h.get('/apis', {
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
    });
    expect(aggregated.headers.get('content-type')).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    );
    expect(aggregated.body.kind).toBe('APIGroupDiscoveryList');
    expect((await h.get('/api')).body.versions).toEqual(['v1']);
    const { resources } = (await h.get('/apis/apps/v1')).body as { resources: { name: string }[] };
    expect(resources.map(({ name }) => name)).toContain('deployments/scale');
    expect((await h.get('/apis/none.example/v1/x')).text).toBe('404 page not found\n');
  });

  it('§2.2-8: YAML, Table and metadata alone on request; 406 for the rest', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a', undefined, { x: '1' }));
    expect((await h.get(`${configMaps}/a`, { accept: 'application/yaml' })).text).toMatch(/^apiVersion: v1\n/);
    const table = await h.get(configMaps, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect([table.body.kind, table.body.rows[0].object.kind]).toEqual(['Table', 'PartialObjectMetadata']);
    const partial = await h.get(configMaps, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    });
    expect(Object.keys(partial.body.items[0]).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect((await h.get(configMaps, { accept: 'text/html' })).status).toBe(406);
  });
});
