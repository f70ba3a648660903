import { expect, it } from 'vitest';
import { harness, widget, widgetCrd, widgets, type Harness } from './harness.js';
import { allow, deny, patch, startHook, type HookServer } from './hook-server.js';

const group = '/apis/admissionregistration.k8s.io/v1';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const onWidgets = { apiGroups: ['ex.io'], apiVersions: ['v1'], operations: ['*'], resources: ['widgets'] };

async function install(
  server: Harness,
  hook: HookServer,
  { name = 'a.ex.io', type = 'Validating', ...fields }: Record<string, unknown> = {},
): Promise<void> {
  const kind = `${String(type)}WebhookConfiguration`;
  const made = await server.post(`${group}/${kind.toLowerCase()}s`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: [
      {
        name,
        clientConfig: hook.client(),
        rules: [onWidgets],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...fields,
      },
    ],
  });
  expect(made.body).toMatchObject({ kind });
  expect(made.headers.get('warning')).toBeNull();
}

async function withWidgets(): Promise<Harness> {
  const server = await harness();
  expect((await server.post(crds, widgetCrd)).status).toBe(201);
  return server;
}

it('a validating webhook sees a create, may refuse it, and warns also then', async () => {
  const [server, hook] = await Promise.all([withWidgets(), startHook()]);
  await install(server, hook);
  expect((await server.post(widgets, widget('a'))).status).toBe(201);
  expect(hook.requests[0]?.review.request).toMatchObject({
    operation: 'CREATE',
    name: 'a',
    namespace: 'default',
    oldObject: null,
    object: { kind: 'Widget', metadata: { name: 'a' }, spec: { size: 1, max: 10 } },
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  });
  hook.answer = () => deny({ code: 418, message: 'nope', reason: 'Teapot' }, { warnings: ['w1'] });
  const denied = await server.post(widgets, widget('b'));
  expect(denied.status).toBe(418);
  expect(denied.body).toMatchObject({
    message: 'admission webhook "a.ex.io" denied the request: nope',
    reason: 'Teapot',
  });
  expect(denied.headers.get('warning')).toBe('299 - "w1"');
});

it('a mutating webhook changes an object before it is given its defaults, validated and stored', async () => {
  const [server, hook] = await Promise.all([withWidgets(), startHook()]);
  await install(server, hook, { type: 'Mutating' });
  hook.answer = () =>
    patch([
      { op: 'remove', path: '/spec/max' },
      { op: 'add', path: '/spec/color', value: 'red' },
      { op: 'add', path: '/spec/bogus', value: 1 },
    ]);
  const made = await server.post(widgets, widget('a'));
  expect(made.body.spec).toEqual({ size: 1, max: 10, color: 'red' });
  hook.answer = () => patch([{ op: 'replace', path: '/spec/size', value: 'large' }]);
  expect(await server.post(widgets, widget('b'))).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
  hook.answer = () => patch([{ op: 'remove', path: '/spec/none' }]);
  expect((await server.post(widgets, widget('c'))).body.message).toBe(
    "Internal error occurred: error in remove for path: '/spec/none': Unable to remove nonexistent key: none: missing value",
  );
});

it('a write that loses a race while its webhook is asked runs again with the new state', async () => {
  const [server, hook] = await Promise.all([withWidgets(), startHook()]);
  await server.post(widgets, widget('a'));
  await install(server, hook, { type: 'Mutating' });
  let calls = 0;
  hook.answer = async ({ review }) => {
    if (review.request.object.metadata.labels?.outer !== 'yes') return allow();
    if (++calls === 1) await server.merge(`${widgets}/a`, { metadata: { labels: { inner: 'yes' } } });
    return allow();
  };
  const outer = await server.merge(`${widgets}/a`, { metadata: { labels: { outer: 'yes' } } });
  expect(outer).toMatchObject({ status: 200, body: { metadata: { labels: { inner: 'yes', outer: 'yes' } } } });
  expect(calls).toBe(2);
});

it('audit annotations are in the journal', async () => {
  const [server, hook] = await Promise.all([withWidgets(), startHook()]);
  await install(server, hook);
  hook.answer = () => allow({ auditAnnotations: { why: 'because' } });
  await server.post(widgets, widget('a'));
  expect(server.server.journal.responses().at(-1)?.auditAnnotations).toEqual({ 'a.ex.io/why': 'because' });
});

it('a policy that is bound refuses writes and leaves audit annotations', async () => {
  const server = await harness();
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
  };
  const head = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'a' } };
  const policy = await server.post(`${group}/validatingadmissionpolicies`, {
    ...head,
    kind: 'ValidatingAdmissionPolicy',
    spec: {
      matchConstraints,
      validations: [{ expression: 'object.data.a != "bad"', message: 'no' }],
      auditAnnotations: [{ key: 'seen', valueExpression: 'string(object.data.a)' }],
    },
  });
  expect(policy.status).toBe(201);
  expect(policy.headers.get('warning')).toBeNull();
  const configMap = (a: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: a }, data: { a } });
  const path = '/api/v1/namespaces/default/configmaps';
  expect((await server.post(path, configMap('bad'))).status).toBe(201);
  await server.post(`${group}/validatingadmissionpolicybindings`, {
    ...head,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: 'a', validationActions: ['Deny', 'Audit'] },
  });
  expect((await server.post(path, { ...configMap('bad'), metadata: { name: 'b' } })).status).toBe(422);
  expect(server.server.journal.responses().at(-1)?.auditAnnotations).toEqual({
    'validation.policy.admission.k8s.io/validation_failure':
      '[{"message":"no","policy":"a","binding":"a","expressionIndex":0,"validationActions":["Deny","Audit"]}]',
    'a/seen': 'bad',
  });
});

it('the types of a policy are checked by a controller that does not run here, as under envtest', async () => {
  const { post, get } = await harness();
  const policies = `${group}/validatingadmissionpolicies`;
  const resourceRules = [
    { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
  ];
  const validations = [{ expression: 'object.spec.replicas > "1"' }, { expression: 'object.spec.nope == 1' }];
  const spec = { matchConstraints: { resourceRules }, validations };
  expect((await post(policies, { metadata: { name: 't' }, spec })).status).toBe(201);
  expect((await get(`${policies}/t`)).body.status).toEqual({});
});
