import type { UntypedObject } from '@kctl/apimachinery';
import { isObject, jsonText } from '@kctl/crd/internal/engine';
import type { Atom } from './atom.js';
import { compareObjects } from './compare.js';
import { ApplyConflictError } from './conflicts.js';
import { difference, hasPath, union, type FieldSet } from './field-set.js';
import { ListItemError } from './list-items.js';
import { fieldSetOf } from './walk.js';

/** Annotation in which kubectl's client-side apply keeps its last applied configuration. */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

function lastAppliedOf(live: UntypedObject): string {
  return live.metadata.annotations?.[annotation] ?? '';
}

/**
 * Conflicts that remain once those over fields that client-side apply set are forgiven; undefined if no conflict
 * remains.
 */
export function allowedByLastApplied(
  live: UntypedObject,
  atom: Atom,
  error: ApplyConflictError,
): ApplyConflictError | undefined {
  const allowed = fieldsOfLastApplied(live, atom);
  if (allowed === undefined) return error;
  const left = error.conflicts.filter(({ path }) => !hasPath(allowed, path));
  return left.length === 0 ? undefined : new ApplyConflictError(left);
}

/** The fields that client-side apply set last and that are still as it set them. */
function fieldsOfLastApplied(live: UntypedObject, atom: Atom): FieldSet | undefined {
  try {
    const last: unknown = JSON.parse(lastAppliedOf(live));
    if (!isObject(last) || last['apiVersion'] !== live.apiVersion) return undefined;
    const { removed, modified, added } = compareObjects(last, live, { atom, ignored: undefined });
    return difference(fieldSetOf(last, atom), union(removed, union(modified, added)));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ListItemError) return undefined;
    throw error;
  }
}

/**
 * The object with the annotation of client-side apply brought up to date; undefined if it has no such annotation or it
 * is right.
 */
export function refreshLastApplied(object: UntypedObject, config: UntypedObject): UntypedObject | undefined {
  if (lastAppliedOf(object) === '') return undefined;
  const { annotations, ...metadata } = config.metadata;
  const { [annotation]: _, ...others } = annotations ?? {};
  const bare = annotations === undefined ? config : { ...config, metadata: { ...metadata, annotations: others } };
  const text = `${jsonText(sorted(bare))}\n`;
  if (text === lastAppliedOf(object)) return undefined;
  const changed = { ...object.metadata.annotations, [annotation]: text };
  return { ...object, metadata: { ...object.metadata, annotations: changed } };
}

/** With the members of all objects in alphabetical order, as Go writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
