import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { FieldTerm, Kind, KubeObject } from '@kctl/apimachinery';
import { fieldAt, splitPath } from '@kctl/apimachinery/internal/wire';

type FieldReader = (object: KubeObject) => string;

const at =
  (path: string): FieldReader =>
  (object) =>
    fieldAt(object, splitPath(path)) ?? '';

const isTrue =
  (path: string): FieldReader =>
  (object) =>
    String(at(path)(object) === 'true');

const count =
  (path: string): FieldReader =>
  (object) =>
    at(path)(object) || '0';

/**
 * Fields whose selector value differs from the value at their path. Upstream equivalent is `ToSelectableFields` of each
 * kind.
 */
const unusual: ReadonlyMap<string, Readonly<Record<string, FieldReader>>> = new Map(
  Object.entries({
    Event: { source: (object) => at('source.component')(object) || at('reportingComponent')(object) },
    Namespace: { name: at('metadata.name') },
    Node: { 'spec.unschedulable': isTrue('spec.unschedulable') },
    Pod: { 'spec.hostNetwork': isTrue('spec.hostNetwork') },
    ReplicationController: { 'status.replicas': count('status.replicas') },
    'Job.batch': { 'status.successful': count('status.succeeded') },
    'ReplicaSet.apps': { 'status.replicas': count('status.replicas') },
  }),
);

/** Whether an API server finds the object by these terms. A field that the object does not have counts as ''. */
export function matchesFields(kind: Kind, object: KubeObject, terms: readonly FieldTerm[]): boolean {
  const own = unusual.get(formatGroupKind(kind));
  return terms.every(({ path, operator, value }) => {
    const read = own !== undefined && Object.hasOwn(own, path) ? own[path] : undefined;
    return ((read ?? at(path))(object) === value) === (operator === '=');
  });
}
