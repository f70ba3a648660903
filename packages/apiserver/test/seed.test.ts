import { expect, test } from 'vitest';
import { configMap, harness, widgetCrd, widgets } from './harness.js';

test('objects are seeded with status, uid and times, in one step each', async () => {
  const { server, get, post, watch } = await harness();
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetCrd);
  const events = await watch(`${widgets}?watch=true`);
  const before = server.revision;
  const [widget] = await server.seed([
    {
      apiVersion: 'ex.io/v1',
      kind: 'Widget',
      metadata: {
        name: 'w',
        namespace: 'default',
        uid: 'uid-1',
        generation: 7,
        creationTimestamp: '2020-01-01T00:00:00Z',
        deletionTimestamp: '2020-01-02T00:00:00Z',
        finalizers: ['ex.io/keep'],
      },
      spec: { size: 1 },
      status: { ready: true },
    },
  ]);
  expect(server.revision).toBe(before + 1);
  const read = (await get(`${widgets}/w`)).body;
  expect(read).toEqual(widget);
  expect(read).toMatchObject({
    metadata: { uid: 'uid-1', generation: 7, creationTimestamp: '2020-01-01T00:00:00Z', finalizers: ['ex.io/keep'] },
    status: { ready: true },
  });
  expect(await events.take(1)).toEqual([`ADDED w@${read.metadata.resourceVersion}`]);
  await events.cancel();
});

test('what is left open is as from a create; a second seed replaces', async () => {
  const { server, get } = await harness();
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
    status: { phase: 'Running', podIP: '10.1.1.1' },
  };
  await server.seed([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }, pod]);
  const read = (await get('/api/v1/namespaces/default/pods/p')).body;
  expect([read.status.phase, read.spec.restartPolicy, read.metadata.uid]).toEqual([
    'Running',
    'Always',
    expect.stringMatching(/^[0-9a-f-]{36}$/),
  ]);
  expect((await get('/api/v1/namespaces/n')).body.status.phase).toBe('Active');
  await server.seed([{ ...configMap('c', {}, { a: '1' }), metadata: { name: 'c', namespace: 'n' } }]);
  await server.seed([{ ...configMap('c', {}, { a: '2' }), metadata: { name: 'c', namespace: 'n' } }]);
  expect((await get('/api/v1/namespaces/n/configmaps/c')).body.data).toEqual({ a: '2' });
});

test('what cannot be seeded is refused by its place in the list', async () => {
  const { server } = await harness();
  const seed = (object: object) => server.seed([configMap('first'), { metadata: {}, ...object }]);
  await expect(seed({ kind: 'Widget', apiVersion: 'ex.io/v1' })).rejects.toThrow(
    'seed[1]: ex.io/v1 Widget is not served',
  );
  await expect(seed({ kind: 'ConfigMap' })).rejects.toThrow('(no apiVersion) ConfigMap is not served');
  await expect(seed(widgetCrd)).rejects.toThrow('created through the API');
  await expect(seed({ ...configMap('a'), metadata: { name: 'a', namespace: 'x' } })).rejects.toThrow(
    'namespace "x" does not exist',
  );
  await expect(seed({ ...configMap('a'), bogus: 1 })).rejects.toThrow('seed[1]: unknown field "bogus"');
  await expect(seed({ ...configMap('A b') })).rejects.toMatchObject({ status: { code: 422 } });
});

test('what cannot be seeded is refused with its place', async () => {
  const { server } = await harness();
  const refused: readonly (readonly [unknown, string])[] = [
    [undefined, 'seed: expected a list of objects'],
    [configMap('a'), 'seed: expected a list of objects'],
    [[null], 'seed[0]: expected an object with metadata'],
    [[configMap('a'), 'text'], 'seed[1]: expected an object with metadata'],
    [[{ apiVersion: 'v1', kind: 'ConfigMap' }], 'seed[0]: expected an object with metadata'],
  ];
  for (const [given, message] of refused)
    await expect(Reflect.apply(server.seed, server, [given]) as Promise<unknown>).rejects.toThrow(message);
});

test('a pod script that could never answer is refused where it is written', async () => {
  const { server } = await harness();
  const script = (...given: unknown[]): unknown => Reflect.apply(server.pods.script, server.pods, given);
  const refused: readonly (readonly [unknown, unknown, string])[] = [
    [undefined, {}, 'match of a pod script: expected an object, got undefined'],
    [{}, undefined, 'pod script: expected an object, got undefined'],
    [{ pod: 'a' }, {}, 'match of a pod script: "pod" is not known; it takes namespace, name, container'],
    [{ name: 5 }, {}, 'match of a pod script: name must be a string'],
    [{}, { logs: ['a'] }, 'pod script: "logs" is not known; it takes log, previousLog, exec, attach, ports'],
    [{}, { log: 5 }, 'pod script: log must be a string, lines that can be iterated, or a function'],
    [{}, { log: [null] }, 'pod script: a line of a log must be a string or { text, time }'],
    [{}, { log: [Buffer.from('a')] }, 'pod script: a line of a log must be a string or { text, time }'],
    [{}, { previousLog: [{ text: 'a', time: 'noon' }] }, 'pod script: the time of a line must be RFC 3339, not noon'],
    [{}, { exec: 'ls' }, 'pod script: exec must be a function'],
    [{}, { ports: { http: () => undefined } }, 'pod script: ports: "http" is not a port from 1 to 65535'],
    [{}, { ports: { 70000: () => undefined } }, 'pod script: ports: "70000" is not a port from 1 to 65535'],
    [{}, { ports: { 80: 'x' } }, 'pod script: ports: what takes connections of 80 must be a function'],
  ];
  for (const [match, given, message] of refused) expect(() => script(match, given)).toThrow(new TypeError(message));
  expect(script({}, { log: undefined, exec: undefined })).toBeTypeOf('function');
});

test('the log of a pod on no node is empty, also without a connection', async () => {
  const { server } = await harness();
  await server.seed([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  ]);
  const answer = await server.fetch('/api/v1/namespaces/default/pods/p/log');
  expect([answer.status, await answer.text()]).toEqual([204, '']);
});
