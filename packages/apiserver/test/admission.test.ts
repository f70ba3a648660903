import { expect, it } from 'vitest';
import { createApiServer } from '../src/index.js';

const group = '/apis/admissionregistration.k8s.io/v1';

it.each([
  [
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    {
      webhooks: [
        {
          name: 'a.example.com',
          clientConfig: { url: 'https://localhost/validate' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
    'does not call admission webhooks yet',
  ],
  [
    'validatingadmissionpolicies',
    'ValidatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
      },
    },
    'does not evaluate admission policies yet',
  ],
])('§2.11: %s are kept, and a warning says that they have no effect', async (plural, kind, fields, warning) => {
  await using server = createApiServer({ listen: false });
  await server.start();
  const response = await server.fetch(
    new Request(`http://local${group}/${plural}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind,
        metadata: { name: 'a.example.com' },
        ...fields,
      }),
    }),
  );
  expect(response.status).toBe(201);
  expect(response.headers.get('warning')).toContain(warning);
});
