/** What writes cost that no webhook and no policy is about: counted in turns of the event loop, not in time. */
import { expect, it } from 'vitest';
import { harness, type Harness } from './harness.js';

const group = '/apis/admissionregistration.k8s.io/v1';
const path = '/api/v1/namespaces/default/configmaps';

const configuration = (type: string, rule: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${type}WebhookConfiguration`,
  metadata: { name: type.toLowerCase() },
  webhooks: [
    {
      name: 'a.ex.io',
      clientConfig: { url: 'https://127.0.0.1:1/hook' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['secrets'], ...rule }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      failurePolicy: 'Ignore',
      timeoutSeconds: 1,
    },
  ],
});

const writes: readonly (readonly [method: string, target: string, body: object, contentType: string])[] = [
  ['POST', path, { metadata: { name: 'a' }, data: { v: '1' } }, 'application/json'],
  ['PUT', `${path}/a`, { metadata: { name: 'a' }, data: { v: '2' } }, 'application/json'],
  ['PATCH', `${path}/a`, { data: { v: '3' } }, 'application/merge-patch+json'],
  [
    'PATCH',
    `${path}/a?fieldManager=f&force=true`,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { v: '4' } },
    'application/apply-patch+yaml',
  ],
  ['DELETE', `${path}/a`, {}, 'application/json'],
];

/** How many turns of the microtask queue each kind of write takes to its commit, and which timers it leaves meanwhile. */
async function turnsOf({ server, clock }: Harness): Promise<{ turns: number; timers: number }[]> {
  const counts: { turns: number; timers: number }[] = [];
  for (const [method, target, body, contentType] of writes) {
    const before = clock.pendingTimers;
    let isCommitted = false;
    let timers = 0;
    const stop = server.onCommit(() => {
      isCommitted = true;
      timers = clock.pendingTimers - before;
    });
    const done = server.answer(
      {
        method,
        target,
        headers: { 'content-type': contentType, accept: 'application/json' },
        body: Buffer.from(JSON.stringify(body)),
        signal: new AbortController().signal,
      },
      { start: () => undefined, data: () => undefined, end: () => undefined, destroy: () => undefined },
    );
    let turns = 0;
    for (; !isCommitted && turns < 10_000; turns++) await Promise.resolve();
    const counted = isCommitted ? turns : Infinity;
    await done;
    stop();
    counts.push({ turns: counted, timers });
  }
  return counts;
}

it('waits for nothing more on the way to the commit where no webhook is about the write', async () => {
  const bare = await turnsOf(await harness());
  for (const [index, [method]] of writes.entries()) expect(bare[index]?.turns, method).toBeLessThan(40);

  const configured = await harness();
  for (const type of ['Mutating', 'Validating']) {
    const made = await configured.post(`${group}/${type.toLowerCase()}webhookconfigurations`, configuration(type, {}));
    expect(made.status).toBe(201);
  }
  const policy = await configured.post(`${group}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'unbound' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
      },
      validations: [{ expression: 'false' }],
    },
  });
  expect(policy.status).toBe(201);
  expect(await turnsOf(configured)).toEqual(bare);
});

it('counts more where one is', async () => {
  const bare = await turnsOf(await harness());
  const configured = await harness();
  await configured.post(
    `${group}/mutatingwebhookconfigurations`,
    // Nothing listens there, and the failure is ignored.
    configuration('Mutating', { resources: ['configmaps'], operations: ['CREATE'] }),
  );
  const [create, ...others] = await turnsOf(configured);
  expect(create?.turns).toBeGreaterThan(bare[0]?.turns ?? Infinity);
  expect(create?.timers).toBeGreaterThan(bare[0]?.timers ?? Infinity);
  expect(others).toEqual(bare.slice(1));
});
