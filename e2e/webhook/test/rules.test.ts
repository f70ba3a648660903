/** The rights that `certificateRules` lists are enough, and all that is needed: on a server that has RBAC. */
import { isForbidden, isNotFound } from '@kctl/apimachinery';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { createHttpClient } from '@kctl/client-http';
import { createEnvironment, eventually } from '@kctl/testing';
import {
  certificateRules,
  createSelfManagedCertificates,
  validatingWebhook,
  webhookConfigurations,
} from '@kctl/webhook';
import { expect, it } from 'vitest';

// The embedded server lets every user do everything.
it.skipIf(process.env['KCTL_TEST_SERVER'] !== 'real')(
  'keeps certificates with the rights of certificateRules alone',
  async () => {
    await using environment = await createEnvironment({ controllerManager: false });
    const { client, real } = environment;
    if (real === undefined) throw new TypeError('this needs a real API server');
    const namespace = await environment.createNamespace('rules');
    const secret = { namespace, name: 'certificates' };
    const inject = { validating: ['rules-validating'] };
    const { role, clusterRole } = certificateRules({ secret, inject });
    const user = 'keeper';
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', name: user };
    await client.create(Role, { metadata: { namespace, name: user }, rules: [...role] });
    await client.create(RoleBinding, {
      metadata: { namespace, name: user },
      subjects,
      roleRef: { ...roleRef, kind: 'Role' },
    });
    await client.create(ClusterRole, { metadata: { name: user }, rules: [...clusterRole] });
    await client.create(ClusterRoleBinding, {
      metadata: { name: user },
      subjects,
      roleRef: { ...roleRef, kind: 'ClusterRole' },
    });
    const handler = validatingWebhook(
      ConfigMap,
      { validateCreate: () => undefined },
      { registration: { failurePolicy: 'Ignore' } },
    );
    const [configuration] = webhookConfigurations([['/x', handler]], {
      name: 'rules',
      address: { service: { name: 'operator', namespace } },
    });
    if (configuration?.kind !== 'ValidatingWebhookConfiguration') throw new TypeError('there is no configuration');
    await client.create(ValidatingWebhookConfiguration, configuration);

    const { certPem, keyPem } = await real.issueClientCertificate({ commonName: user });
    await using limited = createHttpClient({
      connection: { server: real.url, ca: real.caPem, user: { certificate: certPem, key: keyPem } },
    });
    await expect(limited.list(Secret, { namespace })).rejects.toSatisfy(isForbidden);
    const stop = new AbortController();
    const certificates = createSelfManagedCertificates({
      client: limited,
      secret,
      inject,
      service: { name: 'operator', namespace },
      checkIntervalMs: 50,
    });
    try {
      await eventually(() => certificates.load(() => undefined, stop.signal));
      await eventually(() => certificates.check());
      const bundle = certificates.caBundle;
      await client.delete(Secret, secret);
      await expect(client.get(Secret, secret)).rejects.toSatisfy(isNotFound);
      await eventually(async () => expect((await client.get(Secret, secret)).data?.['ca.key']).toBeDefined());
      expect(certificates.caBundle).toBe(bundle);
    } finally {
      stop.abort();
    }
  },
);
