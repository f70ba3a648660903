/** What webhooks are shown, as the differential run with webhooks found it on a real server. */
import { expect, it } from 'vitest';
import { harness, widget, widgetCrd, widgets, type Harness } from './harness.js';
import { allow, patch, startHook, type HookServer } from './hook-server.js';

const group = '/apis/admissionregistration.k8s.io/v1';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const pods = '/api/v1/namespaces/default/pods';
const configMaps = '/api/v1/namespaces/default/configmaps';

async function staged(
  type: 'Mutating' | 'Validating',
  resources: readonly string[],
  fields: object = {},
): Promise<readonly [Harness, HookServer]> {
  const [server, hook] = await Promise.all([harness(), startHook()]);
  expect((await server.post(crds, widgetCrd)).status).toBe(201);
  const made = await server.post(`${group}/${type.toLowerCase()}webhookconfigurations`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${type}WebhookConfiguration`,
    metadata: { name: 'a' },
    webhooks: ['a', 'b'].map((name) => ({
      name: `${name}.ex.io`,
      clientConfig: hook.client(`/${name}`),
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...fields,
    })),
  });
  expect(made.status).toBe(201);
  return [server, hook];
}

const pod = (spec: object = {}) => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const keys = (tolerations: readonly { key: string }[] = []): string[] => tolerations.map(({ key }) => key);

it('an object that is not of its type has no owners, also once a webhook has mended it', async () => {
  const [server, hook] = await staged('Mutating', ['widgets']);
  hook.answer = ({ url }) =>
    url.startsWith('/a') ? patch([{ op: 'replace', path: '/spec/size', value: 1 }]) : allow();
  const made = await server.post(widgets, { ...widget('a'), spec: { size: 'large' } });
  expect(made.status).toBe(201);
  expect(hook.requests[0]?.review.request.object.metadata).not.toHaveProperty('managedFields');
  expect(made.body.metadata).not.toHaveProperty('managedFields');
  const sound = await server.post(widgets, widget('b'));
  expect(sound.body.metadata.managedFields).toHaveLength(1);
});

it('a pod has its tolerations and its priority before webhooks; what they remove stays removed', async () => {
  const [server, hook] = await staged('Mutating', ['pods']);
  hook.answer = ({ url, review }) =>
    url.startsWith('/a') && review.request.operation === 'CREATE'
      ? patch([{ op: 'remove', path: '/spec/tolerations' }])
      : allow();
  const made = await server.post(pods, pod());
  const { spec } = hook.requests[0]?.review.request.object ?? {};
  expect(keys(spec.tolerations)).toEqual(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);
  expect(spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  expect(made.body.spec).not.toHaveProperty('tolerations');
  await server.put(`${pods}/p`, { ...made.body, spec: pod().spec });
  const replaced = hook.requests.at(-1)?.review.request.object.spec;
  expect(keys(replaced.tolerations)).toHaveLength(2);
  expect(replaced).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
});

it('a time of creation that the client made up is shown to no webhook, a version that it sent is', async () => {
  const [server, hook] = await staged('Validating', ['configmaps']);
  const metadata = { name: 'a', creationTimestamp: '2001-01-01T00:00:00Z', resourceVersion: '5' };
  expect((await server.post(configMaps, { metadata })).status).toBe(500);
  const shown = hook.requests[0]?.review.request.object.metadata;
  expect(shown.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
  expect(shown.resourceVersion).toBe('5');
});

it('the first patch of a write to a built-in kind is a change, whatever it changes, and has others called again', async () => {
  const [server, hook] = await staged('Mutating', ['configmaps', 'widgets'], { reinvocationPolicy: 'IfNeeded' });
  const nothing = [
    { op: 'add', path: '/bogus', value: 1 },
    { op: 'remove', path: '/bogus' },
  ];
  hook.answer = ({ url }) => (url.startsWith('/b') ? patch(nothing) : allow());
  const asked = async (write: () => Promise<unknown>): Promise<string> => {
    hook.requests.length = 0;
    await write();
    return hook.requests.map(({ url }) => url[1]).join('');
  };
  expect(await asked(() => server.post(configMaps, { metadata: { name: 'a' }, data: { v: '1' } }))).toBe('aba');
  expect(await asked(() => server.merge(`${configMaps}/a`, { data: { v: '2' } }))).toBe('aba');
  // An update that changes nothing gives no owner a new time.
  expect(await asked(() => server.merge(`${configMaps}/a`, { data: { v: '2' } }))).toBe('ab');
  expect(await asked(() => server.post(widgets, widget('a')))).toBe('ab');
});

it('labels that a webhook has emptied are there for those after it, and not in the store', async () => {
  const [server, hook] = await staged('Mutating', ['widgets']);
  hook.answer = ({ url }) => (url.startsWith('/a') ? patch([{ op: 'remove', path: '/metadata/labels/l' }]) : allow());
  const draft = widget('a');
  const made = await server.post(widgets, { ...draft, metadata: { ...draft.metadata, labels: { l: 'x' } } });
  expect(hook.requests[1]?.review.request.object.metadata.labels).toEqual({});
  expect(made.body.metadata).not.toHaveProperty('labels');
});

it('a PUT that creates through /status is a create of that subresource', async () => {
  const [server, hook] = await staged('Mutating', ['services']);
  const path = '/api/v1/namespaces/default/services/missing/status';
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'missing' }, spec: { ports: [{ port: 80 }] } };
  await server.put(path, service);
  expect(hook.requests).toEqual([]);
});

it('a deletion whose time has come is asked about with the grace that the client gave', async () => {
  const [server, hook] = await staged('Validating', ['pods']);
  await server.post(pods, { ...pod(), metadata: { name: 'p', finalizers: ['ex.io/f'] } });
  hook.requests.length = 0;
  await server.delete(`${pods}/p`);
  expect(hook.requests[0]?.review.request.options).toMatchObject({ gracePeriodSeconds: 0 });
  hook.requests.length = 0;
  await server.delete(`${pods}/p`);
  expect(hook.requests[0]?.review.request.options).not.toHaveProperty('gracePeriodSeconds');
});

it('a namespace with a generated name is selected by that name', async () => {
  const [server, hook] = await staged('Validating', ['configmaps'], {
    namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'Exists' }] },
  });
  const { body } = await server.post('/api/v1/namespaces', { metadata: { generateName: 'ns-' } });
  expect(body.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': body.metadata.name });
  await server.post(`/api/v1/namespaces/${body.metadata.name}/configmaps`, { metadata: { name: 'a' } });
  expect(hook.requests).toHaveLength(2);
});
