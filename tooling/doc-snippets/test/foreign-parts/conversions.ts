// Converters of webhooks, and the functions of their versions.
import { defineKind, type KubeObject } from '@kctl/apimachinery';
import * as webhook from '@kctl/webhook';
import type { Scenario, Stage } from './play.js';

const names = { group: 'example.com', kind: 'Widget', scope: 'Namespaced' } as const;
const V1 = defineKind<KubeObject>()({ ...names, version: 'v1' });
const V2 = defineKind<KubeObject>()({ ...names, version: 'v2' });
const V3 = defineKind<KubeObject>()({ ...names, version: 'v3' });
const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', uid: 'u' },
  spec: { size: 'big' },
};

const { metadata: _, ...bare } = widget;

async function review(
  { attempt, logger, signal }: Stage,
  converter: webhook.Converter,
  desired: string,
): Promise<void> {
  const request = { uid: 'u', desiredAPIVersion: desired, objects: [widget, bare] };
  await attempt(async () => {
    const handler = webhook.conversionWebhook(converter);
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request };
    const answer = await handler.handle({ body, path: '/convert', signal, logger });
    const text = JSON.stringify(answer);
    if (text.includes('"Failure"')) throw new Error(text);
  });
}

export const conversions: readonly Scenario[] = [
  {
    name: 'a converter',
    part: { convert: (object: KubeObject, apiVersion: string) => ({ ...object, apiVersion }) },
    named: /converter|expected an object|foreign|conversion/,
    play: async (stage, { convert }: { readonly convert: webhook.Converter }) => {
      await review(stage, async (...given) => await convert(...given), 'example.com/v2');
      await stage.attempt(async () => {
        const problems = await webhook.roundTripProblems(convert, widget, ['example.com/v2']);
        if (problems.length > 0) throw new Error(problems.join('; '));
      });
    },
  },
  {
    name: 'the functions of a spoke',
    part: { toHub: ({ spec }: { spec: object }) => ({ spec }), fromHub: ({ spec }: { spec: object }) => ({ spec }) },
    named: /toHub|fromHub|converter|foreign|conversion/,
    fine: /^(?:a promise of )?an object(?: of nulls)?$/,
    play: async (stage, part: { readonly toHub: () => never; readonly fromHub: () => never }) => {
      const functions = { toHub: part.toHub, fromHub: part.fromHub };
      const converter = webhook.hubSpokeConverter(
        V2,
        webhook.spoke(V2, V1, functions),
        webhook.spoke(V2, V3, functions),
      );
      await review(stage, converter, 'example.com/v3');
      await stage.attempt(async () => {
        const problems = await webhook.roundTripProblems(converter, widget, ['example.com/v2', 'example.com/v3']);
        if (problems.some((problem) => !problem.includes('loses'))) throw new Error(problems.join('; '));
      });
    },
  },
];
