import type { UntypedObject } from '@kctl/apimachinery';
import { editedAnnotation } from '../faults/other-actors.js';

const bookkeeping = new Set(['resourceVersion', 'managedFields', 'generation']);

/** Content of an object as JSON, without the fields that every write changes. Equal objects have equal JSON. */
export function contentOf(object: UntypedObject): string {
  return JSON.stringify(object, (name, value: unknown) => (bookkeeping.has(name) ? undefined : value));
}

/** The first field in which two results of {@link contentOf} differ, e.g. `status.checkedAt`. */
export function differingPath(before: string, after: string): string {
  return pathBetween(JSON.parse(before), JSON.parse(after), '') ?? 'content';
}

function pathBetween(a: unknown, b: unknown, path: string): string | undefined {
  if (!isRecord(a) || !isRecord(b)) return JSON.stringify(a) === JSON.stringify(b) ? undefined : path;
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = pathBetween(a[name], b[name], path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const perRun = new Set([
  ...bookkeeping,
  'uid',
  'creationTimestamp',
  'apiVersion',
  'kind',
  'clusterIP',
  'clusterIPs',
  'ownerReferences',
]);
const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * State that two runs with the same workload have in common, without identities, times, addresses and generations.
 * Objects whose names the server makes are compared by number.
 */
export function stateOf(objects: Iterable<{ readonly label: string; readonly object: UntypedObject }>): string[] {
  const lines = [...objects].map(({ label, object }) => {
    const { generateName, name = '' } = object.metadata;
    const shown = generateName === undefined ? label : `${label.slice(0, label.length - name.length)}${generateName}*`;
    return `${shown} ${JSON.stringify(clean(object, { name, generateName }))}`;
  });
  return lines.sort();
}

interface Names {
  readonly name: string;
  readonly generateName: string | undefined;
}

function clean(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => clean(item, names));
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([field]) => !perRun.has(field) && field !== editedAnnotation)
        .filter(([field, inner]) => field !== 'annotations' || !isOnlyEdited(inner))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([field, inner]) => [field, field === 'observedGeneration' ? '(generation)' : clean(inner, names)]),
    );
  if (typeof value !== 'string') return value;
  if (time.test(value)) return '(time)';
  return names.generateName !== undefined && value === names.name ? '(name)' : value;
}

function isOnlyEdited(annotations: unknown): boolean {
  return isRecord(annotations) && Object.keys(annotations).every((name) => name === editedAnnotation);
}
