import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { Logger } from '@kctl/telemetry';

const mark: unique symbol = Symbol.for('kctl.dropsWithoutGeneration') as never;

/** Marks a predicate that drops every update of objects without `metadata.generation`. Returns it. */
export function markGenerational<P extends object>(predicate: P): P {
  return Object.assign(predicate, { [mark]: true });
}

/** Whether a predicate is one of those, also of another copy of this package. */
export function isGenerational(predicate: object): boolean {
  return Reflect.get(predicate, mark) === true;
}

/** Kinds of Kubernetes whose objects have no generation. Others are found by their first object. */
const without: ReadonlySet<string> = new Set([
  ...['ConfigMap', 'Endpoints', 'Event', 'LimitRange', 'Namespace', 'Node', 'PersistentVolume'],
  ...['PersistentVolumeClaim', 'ResourceQuota', 'Secret', 'Service', 'ServiceAccount'],
  ...['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map((kind) => `${kind}.rbac.authorization.k8s.io`),
  'Event.events.k8s.io',
  'Lease.coordination.k8s.io',
  'StorageClass.storage.k8s.io',
]);

/** Inputs of {@link createGenerationCheck}. */
export interface GenerationCheckOptions {
  readonly predicates: readonly object[];
  readonly kind: Kind | undefined;
  readonly logger: Logger;
}

/**
 * Warns once if a predicate drops every update because the objects have no generation. Warns at once for the kinds of
 * Kubernetes that have none, else at the first object. Returns the function to call with each object; undefined if
 * there is nothing to check.
 */
export function createGenerationCheck(options: GenerationCheckOptions): ((header: ObjectHeader) => void) | undefined {
  const { predicates, kind, logger } = options;
  if (!predicates.some(isGenerational)) return undefined;
  const warn = (): void =>
    logger.warn(
      'generationChanged drops every update: objects of this kind have no metadata.generation; use resourceVersionChanged or projectionChanged',
      kind === undefined ? {} : { kind: formatGroupKind(kind) },
    );
  if (kind !== undefined && without.has(formatGroupKind(kind))) {
    warn();
    return undefined;
  }
  let isDecided = false;
  return (header) => {
    if (isDecided) return;
    isDecided = true;
    if (header.generation === undefined) warn();
  };
}
