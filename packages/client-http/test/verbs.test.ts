import { defineKind, isConflict, isNoKindMatch, isNotFound, metadataOnly } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, isDecodeError } from '../src/index.js';
import type { HttpClient } from '../src/index.js';
import { failure, json, startServer } from './support/server.js';
import type { TestServer } from './support/server.js';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
interface Widget extends KubeObject {
  spec?: { size?: number | bigint };
}
const ConfigMap = defineKind<ConfigMap>()({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
const Widget = defineKind<Widget>()({ group: 'example.com', version: 'v1', kind: 'Widget', scope: 'Cluster' });

let server: TestServer;
let client: HttpClient;

beforeEach(async () => {
  server = await startServer((_request, response) => json(response, {}));
  client = createHttpClient({ connection: { server: server.url } });
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const cm = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'ns' } });

it.each([
  [{ connection: {}, kubeConfig: {} }, 'kubeConfig and connection are set'],
  [{ connection: {}, transport: {} }, 'connection and transport are set'],
  [{}, 'one of kubeConfig, connection and transport must be set'],
])('is told once where requests go: %o', (options, expected) => {
  const stub = { getCurrentContext: () => '', send: () => undefined, server: 'https://127.0.0.1' };
  const given = Object.fromEntries(Object.keys(options).map((name) => [name, stub]));
  expect(() => createHttpClient(given)).toThrow(expected);
});

describe('get', () => {
  it('asks for the object by its path and returns it as the server sent it', async () => {
    server.handler = (_request, response) => json(response, { ...cm('a'), unknownField: [1] });
    expect(await client.get(ConfigMap, { namespace: 'ns', name: 'a' }, { resourceVersion: '0' })).toEqual({
      ...cm('a'),
      unknownField: [1],
    });
    expect(server.requests[0]?.url.pathname).toBe('/api/v1/namespaces/ns/configmaps/a');
    expect(server.requests[0]?.url.search).toBe('?resourceVersion=0');
  });

  it.each(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deleteAllOf'] as const)(
    'says that %s was given no kind, as an import under a wrong name yields',
    async (verb) => {
      const call = client[verb].bind(client) as (...given: unknown[]) => Promise<unknown>;
      await expect(call(undefined, cm('a'), {})).rejects.toThrow(/: the kind is undefined: expected a token/);
      expect(server.requests).toHaveLength(0);
    },
  );

  it.each(['get', 'patch', 'delete'] as const)('says that %s was given no key', async (verb) => {
    const call = client[verb].bind(client) as (...given: unknown[]) => Promise<unknown>;
    await expect(call(ConfigMap, undefined)).rejects.toThrow(
      `${verb} ConfigMap: the key is undefined: expected { namespace, name }`,
    );
    await expect(call(ConfigMap, 'ns/a')).rejects.toThrow('the key is "ns/a"');
  });

  it('says which program asks: the first part of its user agent is the field manager of what it writes', async () => {
    server.handler = (_request, response) => json(response, cm('a'));
    const agents = async (options: { program?: string; userAgent?: string }): Promise<string | undefined> => {
      await using named = createHttpClient({ connection: { server: server.url }, ...options });
      await named.get(ConfigMap, { namespace: 'ns', name: 'a' });
      return server.requests.at(-1)?.headers['user-agent'];
    };
    expect(await agents({})).toMatch(/^[\w.-]+\/unknown \(\w+\/\w+\) kctl\/\d+\.\d+\.\d+/);
    expect(await agents({ program: 'widgets/1.2.0' })).toMatch(/^widgets\/1\.2\.0 \(/);
    expect(await agents({ program: 'widgets', userAgent: 'whole' })).toBe('whole');
  });

  it('rejects with the Status of the server', async () => {
    server.handler = (_request, response) =>
      failure(response, 404, {
        reason: 'NotFound',
        message: 'configmaps "a" not found',
        details: { name: 'a', kind: 'configmaps' },
      });
    const error = await client.get(ConfigMap, { namespace: 'ns', name: 'a' }).catch((reason: unknown) => reason);
    expect(isNotFound(error)).toBe(true);
    expect(isNoKindMatch(error)).toBe(false);
    expect(String(error)).toContain('configmaps "a" not found');
  });

  it('tells a missing kind from a missing object', async () => {
    server.handler = (_request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('404 page not found\n');
    };
    const error = await client.get(Widget, { name: 'a' }).catch((reason: unknown) => reason);
    expect(isNoKindMatch(error)).toBe(true);
    expect(isNotFound(error)).toBe(false);
    expect(String(error)).toBe(
      `NoKindMatchError: the server ${server.url} has no kind Widget (widgets.example.com) in example.com/v1: is its CustomResourceDefinition installed?`,
    );
    server.handler = (_request, response) =>
      failure(response, 404, {
        reason: 'NotFound',
        message: 'the server could not find the requested resource',
        details: {},
      });
    expect(isNoKindMatch(await client.list(Widget).catch((reason: unknown) => reason))).toBe(true);
  });

  it('refuses names that would leave their place in the path', async () => {
    for (const name of ['', '.', '..', 'a/b', 'a%2fb'])
      await expect(client.get(Widget, { name })).rejects.toThrow(`name ${JSON.stringify(name)} is not valid`);
    await expect(client.get(ConfigMap, { namespace: '', name: 'a' })).rejects.toThrow('namespace is not set');
    expect(server.requests).toHaveLength(0);
  });

  it('keeps capitals and colons of RBAC names', async () => {
    server.handler = (_request, response) => json(response, { metadata: { name: 'system:MyRole' } });
    await client.get(Widget, { name: 'system:MyRole' });
    expect(decodeURIComponent(server.requests[0]?.url.pathname ?? '')).toBe(
      '/apis/example.com/v1/widgets/system:MyRole',
    );
  });

  it('does not quote an undecodable answer, which may be a Secret', async () => {
    server.handler = (_request, response) => json(response, '{"data":{"password":"hunter2"');
    const error = await client.get(Widget, { name: 'a' }).catch((reason: unknown) => reason);
    expect(isDecodeError(error)).toBe(true);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2');
  });
});

describe('list', () => {
  it('sends selectors and paging, and fills apiVersion and kind of items', async () => {
    server.handler = (_request, response) =>
      json(response, {
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9', continue: 'c' },
        items: [{ metadata: { name: 'a' } }],
      });
    const list = await client.list(ConfigMap, {
      namespace: 'ns',
      labelSelector: {
        matchLabels: { b: '2', a: '1' },
        matchExpressions: [{ key: 'aa', operator: 'In', values: ['y', 'x'] }],
      },
      fieldSelector: { 'metadata.name': 'a,b' },
      limit: 5,
      continue: 'tok',
    });
    expect(list.items).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }]);
    expect(list.metadata).toEqual({ resourceVersion: '9', continue: 'c' });
    const query = server.requests[0]?.url.searchParams;
    expect(query?.get('labelSelector')).toBe('a=1,aa in (x,y),b=2');
    expect(query?.get('fieldSelector')).toBe('metadata.name=a\\,b');
    expect(query?.get('limit')).toBe('5');
    expect(query?.get('continue')).toBe('tok');
  });

  it('takes "items": null for an empty list', async () => {
    server.handler = (_request, response) => json(response, { kind: 'WidgetList', metadata: {}, items: null });
    expect((await client.list(Widget)).items).toEqual([]);
  });

  it.each([
    [{ resourceVersion: '7', continue: null, remainingItemCount: null }, { resourceVersion: '7' }],
    [null, {}],
  ])(
    'takes null in the metadata of a list for what is not there, however it is read: %j',
    async (metadata, expected) => {
      const big = { ...cm('a'), data: { text: 'x'.repeat(300_000) } };
      for (const items of [null, [cm('a')], [big]]) {
        server.handler = (_request, response) =>
          json(response, { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items });
        expect((await client.list(ConfigMap)).metadata).toEqual(expected);
        const frames = await client.listFrames(ConfigMap);
        for await (const _batch of frames);
        expect(await frames.metadata).toEqual(expected);
      }
    },
  );

  it('asks for metadata alone and gives back the real kind', async () => {
    server.handler = (_request, response) =>
      json(response, {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: {},
        items: [
          { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' }, spec: { size: 1 } },
        ],
      });
    expect((await client.list(metadataOnly(Widget))).items).toEqual([
      { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } },
    ]);
    expect(server.requests[0]?.headers.accept).toContain('as=PartialObjectMetadataList');
  });
});

describe('writes', () => {
  it('creates with apiVersion and kind filled in, and write options as query', async () => {
    server.handler = (request, response) => json(response, request.body, 201);
    const { apiVersion: _a, kind: _k, ...bare } = cm('a');
    await client.create(ConfigMap, bare, { dryRun: true, fieldOwner: 'me', fieldValidation: 'Strict' });
    const [request] = server.requests;
    expect(request?.method).toBe('POST');
    expect(request?.url.pathname).toBe('/api/v1/namespaces/ns/configmaps');
    expect(request?.url.search).toBe('?dryRun=All&fieldManager=me&fieldValidation=Strict');
    expect(JSON.parse(request?.body ?? '')).toEqual(cm('a'));
  });

  it('refuses an object of another kind, or without a namespace', async () => {
    await expect(client.create(ConfigMap, { ...cm('a'), kind: 'Secret' })).rejects.toThrow(
      'kind "Secret" cannot be written as v1, Kind=ConfigMap',
    );
    await expect(client.create(ConfigMap, { metadata: { name: 'a' } })).rejects.toThrow(
      'metadata.namespace is not set',
    );
    await expect(client.update(metadataOnly(Widget), { metadata: { name: 'a' } })).rejects.toThrow(
      'did you mean to patch?',
    );
    expect(server.requests).toHaveLength(0);
  });

  it('names an object and a patch that are none, before anything is sent', async () => {
    for (const object of [undefined, null, 5, {}, { metadata: null }] as never[]) {
      await expect(client.create(ConfigMap, object)).rejects.toThrow('create ConfigMap: the object is not valid');
      await expect(client.update(ConfigMap, object)).rejects.toThrow('update ConfigMap: the object is not valid');
    }
    const key = { namespace: 'ns', name: 'a' };
    for (const patch of [undefined, null, {}, { type: 'x', body: {} }, { metadata: {} }] as never[])
      await expect(client.patch(ConfigMap, key, patch)).rejects.toThrow(
        'patch ConfigMap "ns/a": the patch is not valid',
      );
    await expect(client.patch(ConfigMap, key, { type: 'merge' } as never)).rejects.toThrow(
      'body of the patch is not set',
    );
    await expect(client.patch(ConfigMap, key, { type: 'json', body: [] } as never)).rejects.toThrow(
      'operations of the patch',
    );
    for (const operations of [{}, [null], ['add']] as never[])
      await expect(client.patch(ConfigMap, key, { type: 'json', operations })).rejects.toThrow(
        'operations of the patch',
      );
    expect(server.requests).toHaveLength(0);
  });

  it('sends no limit where it is Infinity, which a cache takes too', async () => {
    server.handler = (_request, response) => json(response, { kind: 'ConfigMapList', metadata: {}, items: [] });
    await client.list(ConfigMap, { namespace: 'ns', limit: Infinity });
    expect(server.requests[0]?.url.searchParams.has('limit')).toBe(false);
  });

  it('writes nothing for a dryRun that is not a boolean, nor for options that are none', async () => {
    const key = { namespace: 'ns', name: 'a' };
    const all = { dryRun: 'All' } as never;
    const refused = 'ConfigMap: options.dryRun is "All": expected true or false';
    await expect(client.create(ConfigMap, cm('a'), all)).rejects.toThrow(`create ${refused}`);
    await expect(client.update(ConfigMap, cm('a'), all)).rejects.toThrow(`update ${refused}`);
    await expect(client.status(ConfigMap).update(cm('a'), all)).rejects.toThrow(`update ${refused}`);
    await expect(client.patch(ConfigMap, key, { type: 'merge', body: {} }, all)).rejects.toThrow(`patch ${refused}`);
    await expect(client.delete(ConfigMap, key, all)).rejects.toThrow(`delete ${refused}`);
    await expect(client.deleteAllOf(ConfigMap, all)).rejects.toThrow(`deleteAllOf ${refused}`);
    await expect(client.subResource(ConfigMap, 'log').update(key, cm('a') as never, all)).rejects.toThrow(
      `update ${refused}`,
    );
    await expect(client.list(ConfigMap, null as never)).rejects.toThrow('list ConfigMap: the options are null');
    expect(server.requests).toHaveLength(0);
  });

  it('updates by PUT, also the status', async () => {
    server.handler = (request, response) => json(response, request.body);
    await client.update(ConfigMap, cm('a'));
    await client.status(Widget).update({ metadata: { name: 'w' } });
    expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      'PUT /api/v1/namespaces/ns/configmaps/a',
      'PUT /apis/example.com/v1/widgets/w/status',
    ]);
  });

  it('rejects a conflict as such', async () => {
    server.handler = (_request, response) => failure(response, 409, { reason: 'Conflict', message: 'changed' });
    expect(isConflict(await client.update(ConfigMap, cm('a')).catch((reason: unknown) => reason))).toBe(true);
  });

  it('sends every patch type with its content type', async () => {
    server.handler = (_request, response) => json(response, cm('a'));
    const key = { namespace: 'ns', name: 'a' };
    await client.patch(ConfigMap, key, { type: 'json', operations: [{ op: 'add', path: '/data/x', value: 'y' }] });
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: null } });
    await client.patch(ConfigMap, key, { type: 'strategic', body: { data: {} } });
    await client.patch(
      ConfigMap,
      key,
      { type: 'apply', body: { data: { a: 'b' } } },
      { fieldOwner: 'me', force: true },
    );
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    expect(server.requests[3]?.url.search).toBe('?fieldManager=me&force=true');
    expect(JSON.parse(server.requests[3]?.body ?? '')).toEqual({ ...cm('a'), data: { a: 'b' } });
    await expect(client.patch(ConfigMap, key, { type: 'apply', body: {} })).rejects.toThrow(
      'options.fieldOwner is not set',
    );
  });

  it('deletes with options in the body and returns the Status or the object', async () => {
    server.handler = (_request, response) => json(response, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
    const key = { namespace: 'ns', name: 'a' };
    expect(
      await client.delete(ConfigMap, key, {
        preconditions: { uid: 'u' },
        propagationPolicy: 'Foreground',
        dryRun: true,
      }),
    ).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Success',
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
      dryRun: ['All'],
    });
    const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    await client.delete(ConfigMap, key, unsafe);
    expect(JSON.parse(server.requests.pop()?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...unsafe,
    });
    await client.deleteAllOf(ConfigMap, { namespace: 'ns', labelSelector: 'a=b' });
    expect(server.requests[1]?.url.search).toBe('?labelSelector=a%3Db');
    await client.deleteAllOf(metadataOnly(ConfigMap), { namespace: 'ns' });
    expect(server.requests.slice(1, 3).map(({ headers }) => headers.accept)).toEqual([
      'application/json',
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    ]);
    await expect(client.deleteAllOf(ConfigMap)).rejects.toThrow('options.namespace is not set');
  });

  it.each([
    ['the list of what it deletes', { kind: 'ConfigMapList', metadata: { resourceVersion: '7' }, items: [cm('a')] }, 1],
    ['that there was nothing', { kind: 'ConfigMapList', metadata: {}, items: null }, 0],
    ['a Status', { kind: 'Status', apiVersion: 'v1', status: 'Success' }, 'Status'],
    ['something else', { hello: 'world' }, undefined],
  ])('returns what the server answers to deleteAllOf: %s', async (_what, body, expected) => {
    server.handler = (_request, response) => json(response, body);
    const answer = await client.deleteAllOf(ConfigMap, { namespace: 'ns' });
    if (answer === undefined) expect(expected).toBeUndefined();
    else expect('items' in answer ? answer.items.length : answer.kind).toBe(expected);
  });

  it('reaches any subresource', async () => {
    server.handler = (request, response) =>
      json(response, request.method === 'GET' ? { spec: { replicas: 1 } } : request.body);
    const scale = client.subResource<typeof Widget, { spec: { replicas: number } }>(Widget, 'scale');
    expect(await scale.get({ name: 'w' })).toEqual({ spec: { replicas: 1 } });
    expect(await scale.update({ name: 'w' }, { spec: { replicas: 2 } })).toEqual({ spec: { replicas: 2 } });
    await client.subResource(Widget, 'eviction').create({ name: 'w' }, { metadata: { name: 'w' } });
    expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      'GET /apis/example.com/v1/widgets/w/scale',
      'PUT /apis/example.com/v1/widgets/w/scale',
      'POST /apis/example.com/v1/widgets/w/eviction',
    ]);
  });

  it('keeps integers beyond 2^53 through read, update and patch', async () => {
    const text =
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":9007199254740993}}';
    server.handler = (request, response) => json(response, request.body === '' ? text : request.body);
    const widget = await client.get(Widget, { name: 'w' });
    expect(widget.spec?.size).toBe(9007199254740993n);
    await client.update(Widget, widget);
    expect(server.requests[1]?.body).toBe(text);
    await client.patch(Widget, { name: 'w' }, { type: 'merge', body: { metadata: {}, spec: widget.spec } });
    expect(server.requests[2]?.body).toBe('{"metadata":{},"spec":{"size":9007199254740993}}');
  });
});

describe('watch', () => {
  const event = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

  it('delivers events however the bytes are cut, and ends when the server ends', async () => {
    const text =
      event('ADDED', { ...cm('ä€😀') }) +
      event('BOOKMARK', { metadata: { resourceVersion: '5', annotations: { 'k8s.io/initial-events-end': 'true' } } }) +
      event('ERROR', { kind: 'Status', code: 410 });
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const bytes = Buffer.from(text);
      const send = (at: number): void => {
        if (at >= bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 7), () => setImmediate(() => send(at + 7)));
      };
      send(0);
    };
    const events = [];
    for await (const seen of await client.watch(ConfigMap, { resourceVersion: '4', allowWatchBookmarks: true }))
      events.push(seen);
    expect(events).toEqual([
      { type: 'ADDED', object: cm('ä€😀') },
      { type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true },
      { type: 'ERROR', status: { kind: 'Status', code: 410 } },
    ]);
    expect(server.requests[0]?.url.search).toBe('?watch=true&allowWatchBookmarks=true&resourceVersion=4');
  });

  it('takes null in a bookmark for what is not there', async () => {
    server.handler = (_request, response) =>
      json(response, event('BOOKMARK', { metadata: { resourceVersion: '5', annotations: null } }));
    const events = await Array.fromAsync(await client.watch(ConfigMap));
    expect(events).toEqual([{ type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: false }]);
  });

  it('rejects when the connection breaks, after the events that arrived whole', async () => {
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(event('ADDED', cm('a')) + '{"type":"DEL', () => response.destroy());
    };
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { type } of await client.watch(ConfigMap)) seen.push(type);
    };
    await expect(read()).rejects.toMatchObject({ code: 'KCTL_TRANSPORT', failure: 'reset' });
    expect(seen).toEqual(['ADDED']);
  });

  it('rejects when the stream ends cleanly but within an event', async () => {
    server.handler = (_request, response) => json(response, `${event('ADDED', cm('a'))}{"type":"DELETED","obj`);
    const read = async (): Promise<void> => {
      for await (const _event of await client.watch(ConfigMap));
    };
    await expect(read()).rejects.toMatchObject({ code: 'KCTL_DECODE' });
  });

  it('rejects an error status before the stream starts', async () => {
    server.handler = (_request, response) => failure(response, 410, { reason: 'Expired', message: 'too old' });
    await expect(client.watch(ConfigMap)).rejects.toMatchObject({ code: 'KCTL_STATUS', reason: 'Expired' });
  });

  it('releases the connection when the loop is left, on dispose and on abort', async () => {
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(event('ADDED', cm('a')));
    };
    const gone = async (): Promise<void> => {
      while (server.sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
    };
    for await (const _event of await client.watch(ConfigMap)) break;
    await gone();
    const stream = await client.watch(ConfigMap);
    await stream[Symbol.asyncDispose]();
    await gone();
    const controller = new AbortController();
    const aborted = await client.watch(ConfigMap, { signal: controller.signal });
    const reading = (async () => {
      for await (const _event of aborted) controller.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
    await gone();
  });
});

const webKey = { namespace: 'ns', name: 'a' };
const emptyMerge = { type: 'merge', body: {} } as const;

it.each<[string, () => Promise<unknown>, string]>([
  [
    'deleteAllOf',
    () => client.deleteAllOf(ConfigMap, { namespace: 'ns', labelselector: 'a=b' } as never),
    'deleteAllOf ConfigMap: unknown option "labelselector": did you mean "labelSelector"?',
  ],
  [
    'delete',
    () => client.delete(ConfigMap, webKey, { precondition: { uid: 'u' } } as never),
    'delete ConfigMap: unknown option "precondition": did you mean "preconditions"?',
  ],
  [
    'delete with preconditions',
    () => client.delete(ConfigMap, webKey, { preconditions: { UID: 'u' } } as never),
    'delete ConfigMap: unknown option "preconditions.UID": did you mean "uid"?',
  ],
  [
    'delete with a precondition',
    () => client.delete(ConfigMap, webKey, { preconditions: { resourceVersion: 5 } } as never),
    'delete ConfigMap: options.preconditions.resourceVersion is 5: expected a string',
  ],
  [
    'delete with no preconditions',
    () => client.delete(ConfigMap, webKey, { preconditions: 'u' } as never),
    'delete ConfigMap: options.preconditions is "u": expected { uid, resourceVersion }',
  ],
  [
    'get',
    () => client.get(ConfigMap, webKey, { readyourwrites: 'off' } as never),
    'get ConfigMap: unknown option "readyourwrites": did you mean "readYourWrites"?',
  ],
  [
    'get of a mode',
    () => client.get(ConfigMap, webKey, { readYourWrites: 'on' } as never),
    'get ConfigMap: options.readYourWrites is "on": expected "overlay", "barrier" or "off"',
  ],
  [
    'list',
    () => client.list(ConfigMap, { labelselector: 'a=b' } as never),
    'list ConfigMap: unknown option "labelselector": did you mean "labelSelector"?',
  ],
  [
    'list of a namespace',
    () => client.list(ConfigMap, { namespace: ['ns'] } as never),
    'list ConfigMap: options.namespace is an array: expected a string',
  ],
  [
    'list with live',
    () => client.list(ConfigMap, { live: 'false' } as never),
    'list ConfigMap: options.live is "false": expected true or false',
  ],
  [
    'watch',
    () => client.watch(ConfigMap, { fieldselector: 'a=b' } as never),
    'watch ConfigMap: unknown option "fieldselector": did you mean "fieldSelector"?',
  ],
  [
    'create',
    () => client.create(ConfigMap, cm('a'), { dryrun: true } as never),
    'create ConfigMap: unknown option "dryrun": did you mean "dryRun"?',
  ],
  [
    'update',
    () => client.update(ConfigMap, cm('a'), { dryrun: true } as never),
    'update ConfigMap: unknown option "dryrun": did you mean "dryRun"?',
  ],
  [
    'update with preconditions',
    () => client.update(ConfigMap, cm('a'), { preconditions: { uid: 'u' } } as never),
    'update ConfigMap: unknown option "preconditions"',
  ],
  [
    'patch',
    () => client.patch(ConfigMap, webKey, emptyMerge, { fieldowner: 'me' } as never),
    'patch ConfigMap: unknown option "fieldowner": did you mean "fieldOwner"?',
  ],
  [
    'patch with force',
    () => client.patch(ConfigMap, webKey, emptyMerge, { force: 'false' } as never),
    'patch ConfigMap: options.force is "false": expected true or false',
  ],
  [
    'status patch',
    () => client.status(ConfigMap).patch(webKey, emptyMerge, { dryrun: true } as never),
    'patch ConfigMap: unknown option "dryrun": did you mean "dryRun"?',
  ],
  [
    'subresource create',
    () => client.subResource(ConfigMap, 'token').create(webKey, {} as never, { dryrun: true } as never),
    'create ConfigMap: unknown option "dryrun": did you mean "dryRun"?',
  ],
])('%s sends nothing where an option would be taken for another, or for none', async (_, call, text) => {
  await expect(call()).rejects.toThrow(text);
  expect(server.requests).toEqual([]);
});

it('lets reads and deletes have the options that all writes of a caller share', async () => {
  server.handler = (_request, response) => json(response, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
  const shared = { fieldOwner: 'me', dryRun: false, fieldValidation: 'Strict' } as never;
  await client.delete(ConfigMap, webKey, shared);
  server.handler = (_request, response) => json(response, cm('a'));
  await client.get(ConfigMap, webKey, shared);
  expect(server.requests).toHaveLength(2);
});
