import { isConflict, isInvalid } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { HorizontalPodAutoscaler } from '@kctl/apimachinery/kinds/autoscaling/v2';
import { ConfigMap, PersistentVolumeClaim, Secret, Service } from '@kctl/apimachinery/kinds/core/v1';
import { NetworkPolicy } from '@kctl/apimachinery/kinds/networking.k8s.io/v1';
import { describe, expect } from 'vitest';
import { apply, isApplyConflict } from '../apply.js';
import type { ApplyConfiguration } from '../apply.js';
import { applyIfChanged } from '../apply-if-changed.js';
import { needs } from './case.js';
import type { SkipReasons } from './case.js';
import { deployment } from './context.js';
import type { ConformanceContext } from './context.js';

export function applyCases(context: ConformanceContext, reasons: SkipReasons): void {
  const { namespace } = context;
  const mine = { fieldOwner: 'conformance' };

  describe('server-side apply', () => {
    const its = needs(reasons, 'apply');

    its('creates, changes, and removes what is applied no more', async () => {
      const metadata = { namespace, name: context.name() };
      const created = await apply(context.client, ConfigMap, { metadata, data: { a: '1', b: '2' } }, mine);
      expect(created).toMatchObject({ kind: 'ConfigMap', data: { a: '1', b: '2' } });
      const changed = await apply(context.client, ConfigMap, { metadata, data: { a: '2' } }, mine);
      expect(changed.data).toEqual({ a: '2' });
    });

    its('refuses fields of others by name, and takes them over by force', async () => {
      const metadata = { namespace, name: context.name() };
      await apply(context.client, ConfigMap, { metadata, data: { a: '1' } }, { fieldOwner: 'somebody-else' });
      const wanted = { metadata, data: { a: '2' } };
      const failure: unknown = await apply(context.client, ConfigMap, wanted, mine).catch((error: unknown) => error);
      expect(isApplyConflict(failure)).toBe(true);
      expect(failure).toMatchObject({ conflicts: [{ manager: 'somebody-else', field: '.data.a' }] });
      const forced = await apply(context.client, ConfigMap, wanted, { ...mine, force: true });
      expect(forced.data).toEqual({ a: '2' });
    });

    its('is about one object if it names its uid or its version', async () => {
      const [present, absent] = [context.name(), context.name()];
      const uid = '00000000-0000-0000-0000-000000000000';
      const forced = { ...mine, force: true };
      const to = (name: string, metadata: object) => ({ metadata: { namespace, name, ...metadata }, data: { a: '2' } });
      const { metadata, data } = await apply(
        context.client,
        ConfigMap,
        { ...to(present, {}), data: { a: '1' } },
        forced,
      );
      const refusalOf = async (name: string, named: object): Promise<unknown> =>
        await apply(context.client, ConfigMap, to(name, named), forced).catch((error: unknown) => error);
      expect(await refusalOf(present, { uid })).toSatisfy(isInvalid);
      expect(await refusalOf(present, { uid })).toMatchObject({
        status: { details: { causes: expect.arrayContaining([expect.objectContaining({ field: 'metadata.uid' })]) } },
      });
      expect(await refusalOf(present, { resourceVersion: '1' })).toSatisfy(isConflict);
      expect(await refusalOf(absent, { uid })).toSatisfy(isConflict);
      expect((await context.client.get(ConfigMap, { namespace, name: present })).data).toEqual(data);
      const changed = await apply(context.client, ConfigMap, to(present, { uid: metadata.uid }), forced);
      expect(changed.data).toEqual({ a: '2' });
      // A version that no object has is that of one that does not exist.
      const created = await apply(context.client, ConfigMap, to(absent, { resourceVersion: '1' }), forced);
      expect(created.data).toEqual({ a: '2' });
    });

    its('is left out where it would change nothing', async () => {
      const { metadata, spec } = deployment(context, context.name());
      const wanted = { metadata: { namespace, name: metadata.name ?? '' }, spec: spec ?? {} };
      const first = await applyIfChanged(context.client, Deployment, wanted, mine);
      expect(first).toMatchObject({ applied: true, changed: true, reason: 'absent' });
      const second = await applyIfChanged(context.client, Deployment, wanted, mine);
      expect(second).toMatchObject({ applied: false, changed: false, reason: 'matches' });
      const third = await applyIfChanged(
        context.client,
        Deployment,
        { ...wanted, spec: { ...wanted.spec, paused: true } },
        mine,
      );
      expect(third).toMatchObject({
        applied: true,
        changed: true,
        differences: [{ path: 'spec.paused', reason: 'notOwned' }],
      });
      const fourth = await applyIfChanged(context.client, Deployment, wanted, mine);
      expect(fourth).toMatchObject({
        changed: true,
        differences: [{ path: 'spec.paused', reason: 'noLongerDesired' }],
      });
      expect(fourth.object.spec?.paused ?? false).toBe(false);
    });

    its('is left out where the server writes the same otherwise', async () => {
      const name = context.name();
      const metadata = { namespace, name };
      const selector = { matchLabels: { app: name } };
      const container = {
        name: 'main',
        image: 'example.com/image:1',
        env: [
          { name: 'EMPTY', value: '' },
          { name: 'FULL', value: '1000m' },
        ],
        ports: [{ containerPort: 80 }],
        resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: '0.5' } },
        livenessProbe: { httpGet: { path: '/', port: 'http' } },
      };
      const template = {
        metadata: { labels: { app: name } },
        spec: { containers: [container], volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '1000M' } }] },
      };
      const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } };
      const same = async <K extends Kind>(
        kind: K,
        wanted: ApplyConfiguration<K>,
      ): Promise<[string, string, unknown]> => {
        await applyIfChanged(context.client, kind, wanted, mine);
        const { reason, differences } = await applyIfChanged(context.client, kind, wanted, mine);
        return [kind.kind, reason, differences];
      };
      const outcomes = [
        await same(Deployment, { metadata, spec: { replicas: 0, selector, template } }),
        await same(StatefulSet, {
          metadata,
          spec: {
            replicas: 0,
            selector,
            serviceName: name,
            template,
            volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
          },
        }),
        await same(Service, { metadata, spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 'http' }] } }),
        await same(PersistentVolumeClaim, { metadata, spec: claim }),
        await same(Secret, { metadata, stringData: { password: 'geheim' } }),
        await same(NetworkPolicy, {
          metadata,
          spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: selector }] }] },
        }),
        await same(HorizontalPodAutoscaler, {
          metadata,
          spec: {
            maxReplicas: 3,
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
            metrics: [
              { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '1000m' } } },
            ],
          },
        }),
      ];
      expect(outcomes).toEqual(outcomes.map(([kind]) => [kind, 'matches', []]));
    });
  });
}
