import type { NamespacedKey } from '@kctl/apimachinery';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { AbortOptions, ReadObject } from '@kctl/client';
import type { PodsClient } from '../client.js';
import type { NumberRange } from '@kctl/options';
import { PodTargetError } from '../errors.js';
import { describeTarget, podKeyOf, resolvePod } from '../target.js';
import type { ReadPod } from '../read-pod.js';
import type { PodTarget } from '../target.js';

/** Numbers that a port can have. */
export const portRange: NumberRange = { least: 1, most: 65_535, integer: true };

/** A port of a pod. */
export interface PodPort {
  readonly pod: NamespacedKey;
  readonly number: number;
}

/**
 * The pod and the number of the requested port. For a Service it is its port, by number or name, which leads to one of
 * the pod; otherwise a port of the pod, by number, or by its name in the containers.
 *
 * @throws PodTargetError if there is no such port
 */
export async function resolvePort(
  client: Pick<PodsClient, 'get' | 'list'>,
  target: PodTarget,
  port: number | string,
  { signal }: AbortOptions,
): Promise<PodPort> {
  const within = signal === undefined ? {} : { signal };
  const key = podKeyOf(target);
  const asNumber = typeof port === 'number' ? port : /^\d+$/.test(port) ? Number(port) : undefined;
  if (key !== undefined && asNumber !== undefined) return { pod: key, number: asNumber };
  const pod = await resolvePod(client, target, within);
  const { namespace, name } = pod.metadata;
  const place = { namespace, name };
  const isService =
    !('metadata' in target) && 'kind' in target && target.kind.kind === 'Service' && target.kind.group === '';
  if (!isService) return { pod: place, number: asNumber ?? containerPort(pod, String(port)) };
  const service = await client.get(
    Service,
    { namespace: target.namespace, name: target.name },
    { live: true, ...within },
  );
  return { pod: place, number: targetPort(service, pod, port) };
}

function targetPort(service: ReadObject<typeof Service>, pod: ReadPod, port: number | string): number {
  const ports = service.spec?.ports ?? [];
  const found = ports.find(({ port: number, name }) => String(number) === String(port) || name === port);
  if (found === undefined) {
    const known = ports.map(({ port: number, name }) => (name === undefined ? String(number) : `${number} (${name})`));
    throw new PodTargetError(
      `Service ${service.metadata.namespace}/${service.metadata.name} has no port ${port}: it has ${known.join(', ') || 'none'}`,
    );
  }
  // A headless Service leads to the pods as they are.
  if (service.spec?.clusterIP === 'None' && typeof found.targetPort !== 'string') return found.port;
  const wanted = found.targetPort ?? found.port;
  return typeof wanted === 'number' ? wanted : containerPort(pod, wanted);
}

function containerPort(pod: ReadPod, name: string): number {
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const found = ports.find((port) => port.name === name);
  if (found !== undefined) return found.containerPort;
  const known = ports.flatMap((port) => (port.name === undefined ? [] : [port.name]));
  throw new PodTargetError(
    `${describeTarget(pod)} has no port ${JSON.stringify(name)}: it has ${known.join(', ') || 'none with a name'}`,
  );
}
