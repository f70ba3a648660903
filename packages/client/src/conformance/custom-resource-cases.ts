import { defineKind, isInvalid } from '@kctl/apimachinery';
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

  const names: readonly Partial<Record<'group' | 'version' | 'kind' | 'plural', string>>[] = [
    ...['widget', 'myKind', 'My-Kind', 'w', 'W1', 'HTTPRoute', 'a'.repeat(63), 'a'.repeat(64)].map((kind) => ({
      kind,
    })),
    ...['1W', 'W_x', 'W.x', '-W', 'W-', 'W x'].map((kind) => ({ kind })),
    ...['widget-s', '1widgets', 'w', 'Widgets', 'w.x', 'w_x', '-w', 'w-', 'a'.repeat(63), 'a'.repeat(64)].map(
      (plural) => ({ plural }),
    ),
    ...['v1', 'beta', '1v', 'v-1', 'V1', 'v1.1', 'a'.repeat(63), 'a'.repeat(64)].map((version) => ({ version })),
    ...['1.2', 'Example.com', 'a_b.com', '-a.com', 'a..b', '4chan.org'].map((group) => ({ group })),
  ];

  describe('defineKind', () => {
    its('accepts the names that the server accepts, and no others', async () => {
      const verdicts = names.map(async (change) => {
        const given = { group: 'conformance.example.com', version: 'v1', kind: 'Widget', plural: 'widgets', ...change };
        const isDefined = !throws(() => defineKind({ ...given, scope: 'Namespaced' }));
        const isServed = await context.client
          .create(CustomResourceDefinition, definitionOf(given), { dryRun: true })
          .then(() => true)
          .catch((error: unknown) => {
            if (isInvalid(error)) return false;
            throw error;
          });
        return { ...change, isDefined, isServed };
      });
      const different = (await Promise.all(verdicts)).filter(({ isDefined, isServed }) => isDefined !== isServed);
      expect(different).toEqual([]);
    });
  });

  describe('custom resources', () => {
    beforeAll(async () => {
      if (reasons.customResources !== undefined) return;
      await context.client.create(CustomResourceDefinition, definitionOf({ ...Ledger, singular }));
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

interface DefinitionNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
}

function definitionOf({
  group,
  version,
  kind,
  plural,
  singular = 'conformance',
}: DefinitionNames): CustomResourceDefinition {
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular, listKind: `${singular}list` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}

function throws(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}
