import { isObject, objectsOf, quantityNanos, stringOf, type JsonObject } from '@kctl/crd/internal/engine';

const counted = ['cpu', 'memory'] as const;

/** Amounts of cpu and memory that are not zero. */
function amounts(list: unknown): Map<string, bigint> {
  const found = new Map<string, bigint>();
  if (!isObject(list)) return found;
  for (const name of counted) {
    const text = stringOf(list[name]);
    const nanos = text === '' ? 0n : quantityNanos(text);
    if (nanos !== 0n) found.set(name, nanos);
  }
  return found;
}

/** The quality-of-service class of a pod: Guaranteed, Burstable or BestEffort. */
export function qosClass(spec: JsonObject): string {
  const containers = [...objectsOf(spec['containers']), ...objectsOf(spec['initContainers'])];
  let isGuaranteed = containers.length > 0;
  let hasAny = false;
  for (const { resources } of containers) {
    const requests = amounts(isObject(resources) ? resources['requests'] : undefined);
    const limits = amounts(isObject(resources) ? resources['limits'] : undefined);
    hasAny ||= requests.size > 0 || limits.size > 0;
    isGuaranteed &&= counted.every(
      (name) => limits.has(name) && limits.get(name) === (requests.get(name) ?? limits.get(name)),
    );
  }
  if (!hasAny) return 'BestEffort';
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
