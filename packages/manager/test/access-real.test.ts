import { ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import { ClusterRole, ClusterRoleBinding } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import { createEnvironment } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createAccessFilter } from '../src/index.js';
import { createMetricsServer } from '../src/metrics-server.js';

const host = '127.0.0.1';

// TokenReview and SubjectAccessReview are the real server's; the embedded one has neither.
describe.skipIf(process.env['KCTL_TEST_SERVER'] !== 'real')('createAccessFilter on kube-apiserver', () => {
  it('lets in whom the server knows and allows, and learns of a grant', async () => {
    await using environment = await createEnvironment({ server: 'real' });
    const { client } = environment;
    const namespace = await environment.createNamespace('metrics');
    const scraper = { namespace, name: 'scraper' };
    await client.create(ServiceAccount, { metadata: scraper });
    const issued = await client
      .subResource<typeof ServiceAccount, { spec: object; status?: { token?: string } }>(ServiceAccount, 'token')
      .create(scraper, { spec: {} });
    const token = issued.status?.token ?? '';
    const clock = new FakeClock();
    const server = createMetricsServer({
      server: { host, port: 0, filter: createAccessFilter({ client, logger: noopLogger, clock }) },
      exporter: { export: async () => ({ contentType: 'text/plain', body: 'numbers' }) },
      extra: new Map(),
      metrics: noopMetrics,
      logger: noopLogger,
      clock,
    });
    const stop = new AbortController();
    const done = server.run(stop.signal);
    await server.waitForReady?.(stop.signal);
    const ask = async (bearer?: string): Promise<[number, string]> => {
      const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
      const response = await fetch(`http://${host}:${server.address?.port ?? 0}/metrics`, { headers });
      return [response.status, (await response.text()).trim()];
    };

    expect((await ask())[0]).toBe(401);
    expect((await ask('nobody'))[0]).toBe(401);
    const user = `system:serviceaccount:${namespace}:scraper`;
    expect(await ask(token)).toEqual([403, `Authorization denied for user ${user}`]);
    expect(await ask(environment.real?.adminToken)).toEqual([200, 'numbers']);

    await client.create(ClusterRole, {
      metadata: { name: namespace },
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    });
    await client.create(ClusterRoleBinding, {
      metadata: { name: namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace },
      subjects: [{ kind: 'ServiceAccount', ...scraper }],
    });
    // The refusal is remembered for 30 s; the server's own authorizer sees the grant a moment after it was written.
    do await clock.advance(30_000);
    while ((await ask(token))[0] !== 200);
    stop.abort();
    await done;
  });
});
