import { labelSelectorFrom } from '@kctl/apimachinery';
import type { Node, Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/runtime';

/** One entry of a Prometheus file_sd file. */
export interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Services that ask to be scraped say so with this annotation, as is the custom. */
export const scrapeAnnotation = 'prometheus.io/scrape';
const portAnnotation = 'prometheus.io/port';

/** What the targets are computed from. */
export interface Inventory {
  readonly services: readonly ReadObject<typeof Service>[];
  readonly pods: readonly ReadObject<typeof Pod>[];
  readonly nodes: readonly ReadObject<typeof Node>[];
}

/**
 * The targets of every Service that wants to be scraped: the addresses of the running pods behind it, labelled with
 * where they are. Sorted, so that the same inventory gives the same text.
 */
export function targetsOf({ services, pods, nodes }: Inventory): TargetGroup[] {
  const zones = new Map(
    nodes.map(({ metadata }) => [metadata.name, metadata.labels?.['topology.kubernetes.io/zone'] ?? '']),
  );
  const groups: TargetGroup[] = [];
  for (const { metadata, spec } of services) {
    if (metadata.annotations?.[scrapeAnnotation] !== 'true' || spec?.selector === undefined) continue;
    const port = metadata.annotations[portAnnotation] ?? String(spec.ports?.[0]?.port ?? 80);
    const selector = labelSelectorFrom(spec.selector);
    for (const pod of pods) {
      const { namespace, name, labels } = pod.metadata;
      const address = pod.status?.podIP;
      if (
        namespace !== metadata.namespace ||
        pod.status?.phase !== 'Running' ||
        address === undefined ||
        !selector.matches(labels)
      )
        continue;
      const node = pod.spec?.nodeName ?? '';
      groups.push({
        targets: [`${address}:${port}`],
        labels: { namespace, service: metadata.name, pod: name, node, zone: zones.get(node) ?? '' },
      });
    }
  }
  return groups.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey({ targets, labels }: TargetGroup): string {
  return `${labels['namespace'] ?? ''}/${labels['service'] ?? ''}/${labels['pod'] ?? ''}/${targets[0] ?? ''}`;
}
