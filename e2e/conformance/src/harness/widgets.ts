/** The custom resource that most cases use: every kind of field once, status, scale, a column, a selectable field. */
import type { Context } from './context.js';
import type { Draft } from './doc.js';

export interface WidgetApi {
  readonly group: string;
  readonly apiVersion: string;
  /** `widgets.GROUP`, as in messages. */
  readonly resource: string;
  /** `Widget.GROUP`, as in messages. */
  readonly qualifiedKind: string;
  /** Path of the collection, of an object, or of its subresource. */
  path(namespace: string, name?: string, subresource?: string): string;
  /** Path of all namespaces. */
  readonly everywhere: string;
  draft(name: string, spec?: Record<string, unknown>, metadata?: Record<string, unknown>): Draft;
}

const string = { type: 'string' };
const integer = { type: 'integer' };

export const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { ...integer, minimum: 0 },
        color: { ...string, enum: ['red', 'green', 'blue'], default: 'blue' },
        note: { ...string, maxLength: 20, pattern: '^[a-z ]*$' },
        ratio: { type: 'number' },
        enabled: { type: 'boolean' },
        maybe: { ...string, nullable: true },
        replicas: { ...integer, default: 1 },
        parts: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: string, value: { ...integer, default: 7 } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        tags: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
        map: { type: 'object', additionalProperties: string },
        port: { 'x-kubernetes-int-or-string': true },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        when: { ...string, format: 'date-time' },
        list: { type: 'array', maxItems: 3, items: integer },
      },
    },
    status: {
      type: 'object',
      properties: { ready: { type: 'boolean' }, replicas: integer, selector: string, phase: string },
    },
  },
};

export async function createWidgetCrd(context: Context, runId: string): Promise<WidgetApi> {
  const group = `w${runId}.kctl.test`;
  await context.crd({
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: widgetSchema },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }],
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  });
  const apiVersion = `${group}/v1`;
  return {
    group,
    apiVersion,
    resource: `widgets.${group}`,
    qualifiedKind: `Widget.${group}`,
    everywhere: `/apis/${apiVersion}/widgets`,
    path: (namespace, name, subresource) =>
      [`/apis/${apiVersion}/namespaces/${namespace}/widgets`, name, subresource]
        .filter((part) => part !== undefined)
        .join('/'),
    draft: (name, spec = {}, metadata = {}) => ({
      apiVersion,
      kind: 'Widget',
      metadata: { name, ...metadata },
      spec: { size: 1, ...spec },
    }),
  };
}
