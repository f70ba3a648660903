import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasFinalizer, isNotFound, isConditionTrue, controllerOf } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import { describe, expect, it } from 'vitest';
import { Application, applicationCrd } from '../src/application.js';
import { freePort } from '../src/demo-steps.js';
import { cleanupFinalizer } from '../src/reconciler.js';

const program = join(import.meta.dirname, '..', 'src', 'main.ts');

interface Wrong {
  readonly server?: string;
  readonly path?: string;
  readonly text?: string;
}

describe('application-operator', () => {
  it('reconciles, repairs and cleans up, as a process of its own', async () => {
    await using environment = await createEnvironment({ crds: [applicationCrd] });
    const { client } = environment;
    const namespace = await environment.createNamespace('application');
    const [health, metrics] = [await freePort(), await freePort()];
    const operator = startExample(program, {
      env: {
        KUBECONFIG: environment.kubeconfigPath,
        POD_NAMESPACE: namespace,
        HEALTH_PORT: String(health),
        METRICS_PORT: String(metrics),
      },
    });
    const key = { namespace, name: 'shop' };
    try {
      await client.create(Application, { metadata: key, spec: { image: 'shop:1', replicas: 2, port: 9000 } });
      const deployment = await eventually(() => client.get(Deployment, key), { timeoutMs: 30_000 });
      expect(deployment.spec?.replicas).toBe(2);
      expect(controllerOf(deployment)?.name).toBe('shop');
      const service = await eventually(() => client.get(Service, key));
      expect(service.spec?.ports?.[0]).toMatchObject({ port: 80, targetPort: 9000 });
      const application = await eventually(async () => {
        const found = await client.get(Application, key);
        expect(found.status?.observedGeneration).toBe(found.metadata.generation);
        return found;
      });
      expect(hasFinalizer(application, cleanupFinalizer)).toBe(true);
      expect(isConditionTrue(application.status?.conditions, 'Available')).toBe(false);

      await client
        .status(Deployment)
        .patch(key, { type: 'merge', body: { status: { replicas: 2, readyReplicas: 2 } } });
      await eventually(async () =>
        expect(isConditionTrue((await client.get(Application, key)).status?.conditions, 'Available')).toBe(true),
      );

      await client.delete(Service, key);
      await eventually(async () =>
        expect((await client.get(Service, key)).metadata.uid).not.toBe(service.metadata.uid),
      );

      await eventually(async () =>
        expect((await client.list(Event, { namespace })).items.map(({ reason }) => reason)).toContain('Registered'),
      );
      expect(await (await fetch(`http://127.0.0.1:${health}/readyz`)).text()).toBe('ok');
      const exported = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
      expect(exported).toMatch(/controller_runtime_reconcile_total\{controller="application",result="success"\} [1-9]/);
      expect(exported).toContain('leader_election_master_status{name="application-operator"} 1');

      await client.delete(Application, key);
      await eventually(
        async () => {
          const left = await Promise.all(
            [Application, Deployment, Service].map((kind) =>
              client.get(kind, key).then(
                () => kind.kind,
                (error: unknown) => (isNotFound(error) ? undefined : String(error)),
              ),
            ),
          );
          expect(left.filter((kind) => kind !== undefined)).toEqual([]);
        },
        { timeoutMs: 60_000 },
      );
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${operator.output}`, {
        cause: error,
      });
    } finally {
      expect(await operator.stop()).toBe(0);
    }
    const lease = await client.get(Lease, { namespace, name: 'application-operator' });
    expect(lease.spec?.holderIdentity ?? '').toBe('');
  });

  it.each<[string, Wrong, RegExp]>([
    ['an unreachable server', { server: 'https://127.0.0.1:1' }, /127\.0\.0\.1:1.*connection refused/],
    ['a kubeconfig that is not there', { path: '/does/not/exist' }, /\/does\/not\/exist/],
    ['a wrong kubeconfig', { text: 'clusters: {' }, /kubeconfig/],
  ])('gives one clear line for %s and exits', async (_name, wrong, expected) => {
    const folder = await mkdtemp(join(tmpdir(), 'kctl-wrong-'));
    const path = wrong.path ?? join(folder, 'kubeconfig');
    if (wrong.text !== undefined) await writeFile(path, wrong.text);
    if (wrong.server !== undefined) await writeFile(path, kubeconfig(wrong.server, 'token'));
    const operator = startExample(program, { env: { KUBECONFIG: path, HEALTH_PORT: '0', METRICS_PORT: '0' } });
    if (wrong.server === undefined) expect(await operator.exited).toBe(1);
    else {
      // An operator outlives an outage of its server: it says what is wrong, and goes on trying.
      await operator.waitFor('127.0.0.1:1');
      expect(await operator.stop()).toBe(0);
    }
    expect(operator.output).toMatch(expected);
    expect(operator.output).not.toMatch(/^\s+at /m);
    await rm(folder, { recursive: true, force: true });
  });

  it('names the CRD that is not installed', async () => {
    await using environment = await createEnvironment({ server: 'embedded' });
    const operator = startExample(program, {
      env: { KUBECONFIG: environment.kubeconfigPath, HEALTH_PORT: '0', METRICS_PORT: '0' },
    });
    await operator.waitFor('applications.demo.kctl.dev');
    await operator.stop();
    expect(operator.output).toContain(
      'has no kind Application (applications.demo.kctl.dev) in demo.kctl.dev/v1: is its CustomResourceDefinition installed?',
    );
    expect(operator.output).not.toMatch(/^\s+at /m);
  });

  it('says that the token is not accepted', async () => {
    await using environment = await createEnvironment({ server: 'embedded' });
    const folder = await mkdtemp(join(tmpdir(), 'kctl-token-'));
    const path = join(folder, 'kubeconfig');
    await writeFile(
      path,
      kubeconfig(
        environment.connection.server,
        'an-old-token',
        Buffer.from(environment.connection.ca ?? '').toString('base64'),
      ),
    );
    const operator = startExample(program, { env: { KUBECONFIG: path, HEALTH_PORT: '0', METRICS_PORT: '0' } });
    await operator.waitFor('Unauthorized');
    await operator.stop();
    expect(operator.output).not.toContain('an-old-token');
    expect(operator.output).not.toMatch(/^\s+at /m);
    await rm(folder, { recursive: true, force: true });
  });
});

function kubeconfig(server: string, token: string, ca?: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    clusters: [
      {
        name: 'it',
        cluster: {
          server,
          ...(ca === undefined ? { 'insecure-skip-tls-verify': true } : { 'certificate-authority-data': ca }),
        },
      },
    ],
    users: [{ name: 'it', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
  });
}
