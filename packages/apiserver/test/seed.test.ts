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
