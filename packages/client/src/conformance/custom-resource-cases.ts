import { defineKind } from '@kctl/apimachinery';
import type { Kind, KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hasCondition } from '../conditions.js';
import { mergeFrom, mergePatch } from '../patch.js';
import { waitFor } from '../wait-for.js';
import { needs } from './case.js';
import type { SkipReasons } from './case.js';
import type { ConformanceContext } from './context.js';

interface Ledger extends KubeObject {
  spec?: { big?: number | bigint; small?: number; note?: string };
}

/** 2^53 + 1, which no number can hold. */
const big = 9_007_199_254_740_993n;

/** What only a kind without a schema of Kubernetes' own shows. */
export function customResourceCases(context: ConformanceContext, reasons: SkipReasons): void {
  const { namespace } = context;
  const its = needs(reasons, 'customResources');
  const singular = context.name().replaceAll('-', '');
  const Ledger: Kind<Ledger, 'Namespaced'> = defineKind<Ledger>()({
    group: 'conformance.example.com',
    version: 'v1',
    kind: `L${singular}`,
    plural: `${singular}s`,
    scope: 'Namespaced',
  });
  const definition = `${Ledger.plural}.${Ledger.group}`;

  describe('custom resources', () => {
    beforeAll(async () => {
      if (reasons.customResources !== undefined) return;
      await context.client.create(CustomResourceDefinition, {
        metadata: { name: definition },
        spec: {
          group: Ledger.group,
          scope: 'Namespaced',
          names: { kind: Ledger.kind, plural: Ledger.plural, singular },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          ],
        },
      });
      const until = hasCondition('Established', 'True');
      await waitFor(context.client, CustomResourceDefinition, { name: definition }, { until, timeoutMs: 30_000 });
    }, 60_000);

    afterAll(async () => {
      if (reasons.customResources !== undefined) return;
      await context.client.delete(CustomResourceDefinition, { name: definition });
    });

    its('keep integers beyond 2^53 in create, read, list, update and patch', async () => {
      const key = { namespace, name: context.name() };
      const created = await context.client.create(Ledger, { metadata: key, spec: { big, small: 1 } });
      expect(created.spec).toEqual({ big, small: 1 });
      const read = await context.client.get(Ledger, key, { live: true });
      expect(read.spec).toEqual({ big, small: 1 });
      const { items } = await context.client.list(Ledger, { namespace, live: true });
      expect(items.map(({ spec }) => spec)).toEqual([{ big, small: 1 }]);
      const updated = await context.client.update(Ledger, { ...read, spec: { ...read.spec, small: 2 } });
      expect(updated.spec).toEqual({ big, small: 2 });
      const merged = await context.client.patch(Ledger, key, mergePatch({ spec: { note: 'a' } }));
      expect(merged.spec).toEqual({ big, small: 2, note: 'a' });
      const draft = { ...merged, spec: { ...merged.spec, big: big + 2n } };
      const patched = await context.client.patch(Ledger, key, mergeFrom(merged, draft));
      expect(patched.spec?.big).toBe(big + 2n);
    });
  });
}
