import type { Kind } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { SubjectAccessReview } from '@kctl/apimachinery/kinds/authorization.k8s.io/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { type AccessNeed, type AccessVerb } from '@kctl/rbac';
import { formatResource, policyRules } from '@kctl/rbac/internal';
import { createEnvironment, createOperatorAccess, eventually, type TestEnvironment } from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger, webhookManagedBy, type RuntimeManager } from '../src/index.js';

const nowhere = { server: 'https://127.0.0.1:1' };

/** An operator that copies the labels of Deployments into ConfigMaps. */
function addLabels(manager: RuntimeManager): void {
  const events = manager.recorder('labels');
  controllerManagedBy(manager)
    .for(Deployment)
    .owns(ConfigMap)
    .needs(Deployment, ['patch'], { subresource: 'status' })
    .reconcile(async (deployment, { apply }) => {
      const { name, labels = {} } = deployment.metadata;
      await apply(ConfigMap, { metadata: { name }, data: { ...labels } });
      events.normal(deployment, 'Copied', 'labels are copied');
      return { status: { ...deployment.status, observedGeneration: deployment.metadata.generation ?? 0 } };
    });
}

/** The role on the server lacks one right: the server refuses the request, and the report names it. */
async function namesWhatIsTakenAway(
  environment: TestEnvironment,
  { need, verb }: { readonly need: AccessNeed; readonly verb: AccessVerb },
): Promise<void> {
  const access = createOperatorAccess(environment, { name: 'labels' });
  const manager = await createManager({
    connection: access.connection,
    logger: noopLogger,
    leaderElection: { name: 'labels', leaseDurationMs: 2_000, renewDeadlineMs: 1_000, retryPeriodMs: 100 },
  });
  addLabels(manager);
  const isTaken = ({ group, resource }: AccessNeed): boolean => group === need.group && resource === need.resource;
  await access.grant(
    manager.accessNeeds().flatMap((each) => {
      const verbs = isTaken(each) ? each.verbs.filter((other) => other !== verb) : each.verbs;
      return verbs.length === 0 ? [] : [{ ...each, verbs }];
    }),
  );
  const { client } = environment;
  await eventually(async () => {
    const [group, [resource = '', subresource]] = [need.group, need.resource.split('/')];
    const attributes = { verb, group, resource, namespace: access.namespace, name: 'labels' };
    const resourceAttributes = subresource === undefined ? attributes : { ...attributes, subresource };
    const user = `system:serviceaccount:${access.namespace}:labels`;
    const review = { metadata: {}, spec: { user, resourceAttributes } };
    expect((await client.create(SubjectAccessReview, review)).status?.allowed).toBe(false);
  });
  // Everything is done for the first time in a namespace that is new, and with a Lease that is.
  await client.delete(Lease, { namespace: access.namespace, name: 'labels' }).catch(() => undefined);
  const namespace = await environment.createNamespace('without');
  const stop = new AbortController();
  const ended = manager.run(stop.signal).catch(() => undefined);
  await createDeployment(environment, namespace);
  const name = formatResource(need).replace(/[.]/g, '\\.');
  await eventually(() =>
    expect(access.report()).toMatch(
      new RegExp(`^not granted: ${verb} ${name}(?: in namespace \\S+)? \\(sent .*refused`, 'm'),
    ),
  );
  stop.abort();
  await ended;
}

async function createDeployment(environment: TestEnvironment, namespace: string): Promise<void> {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await environment.client.create(Deployment, {
    metadata: { namespace, name: 'web', labels: { tier: 'front' } },
    spec: { selector: { matchLabels: { app: 'a' } }, template },
  });
}

describe('accessNeeds', () => {
  it('has what an operator sends on a server with RBAC, no more and no less; a rule that is taken away is named', async () => {
    await using environment = await createEnvironment({ embedded: { authorization: 'RBAC' } });
    const namespace = await environment.createNamespace('rbac');
    const access = createOperatorAccess(environment, { name: 'labels' });
    const manager = await createManager({
      connection: access.connection,
      logger: noopLogger,
      leaderElection: { name: 'labels' },
    });
    addLabels(manager);
    await access.grant(manager.accessNeeds());
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await createDeployment(environment, namespace);
    await eventually(async () =>
      expect((await environment.client.get(ConfigMap, { namespace, name: 'web' })).data).toEqual({ tier: 'front' }),
    );
    await eventually(() => expect(access.report()).toBe(''));
    stop.abort();
    await running;
    expect(access.report()).toBe('');

    const used = access.recorder.uses();
    const rights = manager.accessNeeds().flatMap((need) => need.verbs.map((verb) => ({ need, verb })));
    const taken = rights.filter(({ need, verb }) =>
      used.some((use) => use.verb === verb && use.group === need.group && use.resource === need.resource),
    );
    expect(taken.length).toBeGreaterThan(10);
    for (const right of taken) await namesWhatIsTakenAway(environment, right);
  });

  it('follows from what is registered, without a request', async () => {
    const manager = await createManager({
      connection: nowhere,
      logger: noopLogger,
      leaderElection: { name: 'op', namespace: 'op-system' },
      cache: { defaultNamespaces: { shop: {} } },
      webhook: {
        port: 0,
        selfManagedCertificates: {
          secret: { name: 'op-webhook', namespace: 'op-system' },
          service: { name: 'op', namespace: 'op-system' },
          inject: { validating: ['op-validating'] },
        },
      },
    });
    controllerManagedBy(manager)
      .for(ConfigMap)
      .needs(Secret, ['get'], { names: ['database'] })
      .complete(async () => {
        await Promise.resolve();
      });
    const before = policyRules(manager.accessNeeds());
    expect(before.cluster).toEqual([]);
    expect(before.namespaces.get('shop')).toEqual([
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['database'], verbs: ['get'] },
    ]);
    expect(before.namespaces.get('op-system')).toEqual([
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['op'], verbs: ['get', 'update'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ]);
    webhookManagedBy(manager)
      .for(ConfigMap)
      .withValidator({ validateCreate: () => undefined }, { confirm: ['core-kinds'] })
      .complete();
    manager.recorder('settings');
    manager.needs(Secret, ['list']);
    const after = policyRules(manager.accessNeeds());
    expect(after.cluster).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations'],
        resourceNames: ['op-validating'],
        verbs: ['get', 'update'],
      },
    ]);
    expect(after.namespaces.get('shop')?.map(({ resources }) => resources)).toContainEqual(['events']);
    expect(after.namespaces.get('op-system')).toContainEqual({
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: ['op-webhook'],
      verbs: ['get', 'update'],
    });
    await manager.liveClient[Symbol.asyncDispose]();
  });

  it('has nothing of a resource that is declared without a verb, in place of what is assumed', async () => {
    const manager = await createManager({ connection: nowhere, logger: noopLogger });
    controllerManagedBy(manager)
      .for(Deployment)
      .owns(ConfigMap)
      .onlyNeeds(Deployment, [], { subresource: 'status' })
      .onlyNeeds(ConfigMap, [])
      .complete(() => Promise.resolve());
    const rights = manager
      .accessNeeds()
      .flatMap(({ resource, verbs, when }) => (when === undefined ? [[resource, ...verbs]] : []));
    expect(rights).toEqual([
      ['deployments', 'watch'],
      ['configmaps', 'watch'],
    ]);
    const invalid = controllerManagedBy(manager)
      .for(Deployment)
      .onlyNeeds(Deployment, [], { subResource: 'status' } as never);
    expect(() => invalid.complete(() => Promise.resolve())).toThrow('subResource');
    await manager.liveClient[Symbol.asyncDispose]();
  });

  it('adds what needs declares to what is assumed, and has what onlyNeeds declares alone', async () => {
    const manager = await createManager({ connection: nowhere, logger: noopLogger });
    controllerManagedBy(manager)
      .for(Deployment)
      .owns(ConfigMap)
      .owns(Secret)
      .needs(ConfigMap, ['delete'])
      .onlyNeeds(Secret, ['create'])
      .reconcile(() => Promise.resolve());
    const { cluster } = policyRules(manager.accessNeeds().filter(({ when }) => when === undefined));
    expect(cluster).toEqual([
      { apiGroups: [''], resources: ['configmaps'], verbs: ['watch', 'create', 'patch', 'delete'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['watch', 'create'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['watch'] },
      { apiGroups: ['apps'], resources: ['deployments/status'], verbs: ['patch'] },
    ]);
    await manager.liveClient[Symbol.asyncDispose]();
  });

  it.each(['complete', 'reconcile'] as const)('has no status of a kind without one, with %s', async (end) => {
    for (const [kind, hasStatus] of [
      [Secret, false],
      [ConfigMap, false],
      [Lease, false],
      [Deployment, true],
    ] as const) {
      const manager = await createManager({ connection: nowhere, logger: noopLogger });
      controllerManagedBy(manager)
        .for<Kind>(kind)
        [end](() => Promise.resolve());
      const resources = manager.accessNeeds().map(({ resource }) => resource);
      expect(resources.includes(`${kind.plural}/status`)).toBe(hasStatus);
      await manager.liveClient[Symbol.asyncDispose]();
    }
  });

  it('names what is wrong with a declaration', async () => {
    const manager = await createManager({ connection: nowhere, logger: noopLogger });
    const builder = controllerManagedBy(manager)
      .for(ConfigMap)
      .needs(Secret, ['lst' as never]);
    expect(() => builder.complete(() => Promise.resolve())).toThrow('needs(Secret): verb "lst" is not valid');
    expect(() => manager.needs(undefined as never, ['get'])).toThrow('is its import right?');
    await manager.liveClient[Symbol.asyncDispose]();
  });
});
