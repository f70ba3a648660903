import { isAlreadyExists } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { sleep, untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { simulate, type Operator, type ReplicaWorld, type SimulatedWebhook } from '../src/index.js';

const namespace = 'default';

const configuration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'settings' },
  webhooks: [
    {
      name: 'settings.example.com',
      clientConfig: { service: { namespace, name: 'operator', path: '/check' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 5,
    },
  ],
};

/** Allows everything but names that begin with `bad`. */
function checks(asked: string[]): SimulatedWebhook {
  return {
    handle: async ({ body }) => {
      const { uid, name } = (body as { request: { uid: string; name: string } }).request;
      asked.push(name);
      const response = { uid, allowed: !name.startsWith('bad') };
      return { body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } };
    },
  };
}

function operatorOf(asked: string[]) {
  return ({ connection, clock }: ReplicaWorld): Operator => ({
    webhooks: new Map([['/check', checks(asked)]]),
    run: async (signal) => {
      await using client = createHttpClient({ connection, clock });
      while (!signal.aborted) {
        await client
          .patch(ConfigMap, { namespace, name: 'kept' }, { type: 'merge', body: { data: { at: String(clock.now()) } } })
          .catch(() => undefined);
        await untilAborted(sleep(5_000, { clock, signal }), signal);
      }
    },
  });
}

const small = { replicas: 2, seeds: 1, compare: false, shrink: false, quietMs: 0, resources: [configuration] } as const;

it('calls the webhooks of the replicas, and fails the writes of an operator while they are down', async () => {
  const asked: string[] = [];
  const steps: string[] = [];
  const { faults } = await simulate({
    ...small,
    operator: operatorOf(asked),
    simulatedMinutes: 20,
    faults: { 'webhook-down': 30 },
    workload: async ({ client, sleep: pause }) => {
      await pause(60_000);
      for (let count = 0; count < 30; count++) {
        await pause(30_000);
        await client.create(ConfigMap, { metadata: { namespace, name: `made-${count}` } }).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
      }
      await client.create(ConfigMap, { metadata: { namespace, name: 'kept' } });
      await expect(client.create(ConfigMap, { metadata: { namespace, name: 'bad' } })).rejects.toThrow(/denied/);
      await pause(120_000);
    },
    onStep: ({ what }) => void steps.push(what),
  });
  expect(faults).toBeGreaterThan(2);
  expect(asked).toEqual(expect.arrayContaining(['made-0', 'made-29', 'kept', 'bad']));
  expect(steps.some((step) => step.startsWith('no webhook can be reached'))).toBe(true);
  expect(steps.filter((step) => step === 'create configmaps default → 500')).toEqual([]);
});

it('fails writes where no replica is alive that serves the webhook, until one is', async () => {
  const answers: string[] = [];
  await simulate({
    ...small,
    replicas: 1,
    operator: operatorOf([]),
    simulatedMinutes: 20,
    faults: { 'webhook-down': 60 },
    workload: async ({ client, sleep: pause }) => {
      await client.create(ConfigMap, { metadata: { namespace, name: 'kept' } });
      await pause(900_000);
    },
    onStep: ({ what }) => void answers.push(what),
  });
  expect(answers).toContain('patch configmaps default/kept → 500');
  expect(answers).toContain('patch configmaps default/kept → 200');
});
