// The custom resource of the benchmark: about 1 KB each.
import { defineKind } from '@kctl/runtime';
import type { ObjectMeta } from '@kctl/runtime';

export interface Widget {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec?: { size: number; colour?: string; sentAt?: number; notes?: Record<string, string> };
}

export const Widget = defineKind<Widget>()({
  group: 'bench.kctl.dev',
  version: 'v1',
  kind: 'Widget',
  scope: 'Namespaced',
});

export const namespace = 'bench';

export function widgetName(i: number): string {
  return `widget-${String(i).padStart(5, '0')}`;
}

/** The `colour` of the write that ends each part of a run; of other writes it is another one. */
export const marks = { coldEnd: 'cold-end', warmStart: 'warm-start', end: 'end' } as const;
