// Fills a server with widgets.
                                                                                                 
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
                                                    
import { installCrds } from '@kctl/testing';
import { namespace, Widget, widgetName } from './widget.js';

const objects = Number(process.env['KCTL_BENCH_OBJECTS'] ?? '10000');
const connections = 16;

const definition                           = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${Widget.plural}.${Widget.group}` },
  spec: {
    group: Widget.group,
    scope: 'Namespaced',
    names: { plural: Widget.plural, singular: 'widget', kind: Widget.kind, listKind: 'WidgetList' },
    versions: [
      {
        name: Widget.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  colour: { type: 'string' },
                  sentAt: { type: 'number' },
                  notes: { type: 'object', additionalProperties: { type: 'string' } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export async function seed(client            )                {
  await installCrds(client, [definition]);
  await client.create(Namespace, { metadata: { name: namespace } });
  let next = 0;
  const worker = async ()                => {
    while (next < objects) {
      const i = next++;
      const notes = Object.fromEntries(
        Array.from({ length: 8 }, (_, line) => [`line-${line}`, `widget ${i}, line ${line}: ${'text '.repeat(12)}`]),
      );
      await client.create(Widget, {
        metadata: { namespace, name: widgetName(i), labels: { app: 'bench', shard: String(i % 10) } },
        spec: { size: i, colour: 'red', sentAt: 0, notes },
      });
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
}
