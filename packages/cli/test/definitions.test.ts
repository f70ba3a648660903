import { defineResource } from '@kctl/crd';
import { defineOperator } from '@kctl/operator';
import { hubSpokeConverter, spoke, webhookManagedBy } from '@kctl/runtime';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { generateFiles } from '../src/index.js';

const versions = {
  v1: { storage: true, spec: z.object({ size: z.int32() }) },
  v2: { spec: z.object({ width: z.int32() }) },
} as const;
const Widget = defineResource({ group: 'example.com', kind: 'Widget', versions });
const Own = defineResource({ group: 'example.com', kind: 'Own', conversion: { strategy: 'None' }, versions });
const One = defineResource({ group: 'example.com', kind: 'One', versions: { v1: versions.v1 } });

const operator = (isConverting: boolean) =>
  defineOperator({
    name: 'widgets',
    resources: [Widget, Own, One],
    setup(manager) {
      if (!isConverting) return;
      const converter = hubSpokeConverter(
        Widget,
        spoke(Widget, Widget.versions.v2, {
          toHub: ({ spec }) => ({ spec: { size: spec?.width } }),
          fromHub: ({ spec }) => ({ spec: { width: spec?.size } }),
        }),
      );
      webhookManagedBy(manager).for(Widget).withConverter(converter).complete();
    },
  });

async function definitions(isConverting: boolean): Promise<Record<string, unknown>> {
  const files = generateFiles({ graph: await operator(isConverting).graph(), image: 'widgets:1' }, ['crds']);
  const parsed = [...files.values()].flatMap((text) => parseAllDocuments(text).map((each) => each.toJS() as unknown));
  return Object.fromEntries(
    parsed.map((each) => {
      const { spec } = each as { spec: { names: { kind: string }; conversion?: unknown } };
      return [spec.names.kind, spec.conversion];
    }),
  );
}

describe('the definitions of an operator that converts', () => {
  it('have the API server ask its Service, where there are several versions and nothing else is said', async () => {
    expect(await definitions(true)).toEqual({
      Widget: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: {
            service: { name: 'widgets-webhook', namespace: 'widgets-system', port: 443, path: '/convert' },
          },
          conversionReviewVersions: ['v1'],
        },
      },
      Own: { strategy: 'None' },
      One: undefined,
    });
  });

  it('have the Service and the certificate of the release in a chart', async () => {
    const files = generateFiles({ graph: await operator(true).graph(), image: 'widgets:1' }, ['chart']);
    const template = files.get('chart/templates/crd-0.yaml') ?? '';
    expect(template).toContain('cert-manager.io/inject-ca-from: {{ .Release.Namespace');
    expect(template).toMatch(/name: widgets-webhook\n +namespace: \{\{ \.Release\.Namespace \| quote \}\}/);
  });

  it('say nothing of conversion where it does not convert', async () => {
    expect(await definitions(false)).toEqual({ Widget: undefined, Own: { strategy: 'None' }, One: undefined });
  });
});
