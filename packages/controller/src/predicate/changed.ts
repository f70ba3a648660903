import type { Selector } from '@kctl/apimachinery';
import type { EventObject, ObjectEvent, UpdateEvent } from '../event/object-event.js';
import type { Predicate } from './predicate.js';

/** Drops updates that replay an unchanged object. Mirrors `predicate.ResourceVersionChangedPredicate`. */
export const resourceVersionChanged: Predicate = onUpdate(
  ({ oldObject, object }) => oldObject.metadata.resourceVersion !== object.metadata.resourceVersion,
);

/**
 * Drops updates that leave `metadata.generation` alone: for kinds whose server bumps it, these are changes of status
 * or metadata only. Note that setting `metadata.deletionTimestamp` bumps the generation, and changes of labels,
 * annotations and finalizers do not. Mirrors `predicate.GenerationChangedPredicate`.
 */
export const generationChanged: Predicate = onUpdate(
  ({ oldObject, object }) => oldObject.metadata.generation !== object.metadata.generation,
);

/** Drops updates that leave the annotations alone. Mirrors `predicate.AnnotationChangedPredicate`. */
export const annotationChanged: Predicate = onUpdate(
  ({ oldObject, object }) => !sameEntries(oldObject.metadata.annotations, object.metadata.annotations),
);

/** Drops updates that leave the labels alone. Mirrors `predicate.LabelChangedPredicate`. */
export const labelChanged: Predicate = onUpdate(
  ({ oldObject, object }) => !sameEntries(oldObject.metadata.labels, object.metadata.labels),
);

/** Passes events of objects whose (new) labels match. Mirrors `predicate.LabelSelectorPredicate`. */
export function labelSelectorMatches(selector: Pick<Selector, 'matches'>): Predicate {
  return (event) => selector.matches(event.object.metadata.labels);
}

/**
 * Drops updates that leave a projection of the object alone, compared by value; more precise than
 * {@link generationChanged} where the server does not bump it. Mirrors kube-rs's hash predicates, without the state:
 * old and new object are both at hand, so nothing has to be remembered.
 */
export function projectionChanged<T = EventObject>(project: (object: T) => unknown): Predicate<T> {
  return (event: ObjectEvent<T>) =>
    event.type !== 'update' || !sameValue(project(event.oldObject), project(event.object));
}

function onUpdate(hasChanged: (event: UpdateEvent) => boolean): Predicate {
  return (event) => event.type !== 'update' || hasChanged(event);
}

type Entries = Readonly<Record<string, string>> | undefined;

function sameEntries(a: Entries, b: Entries): boolean {
  return a === b || sameValue(a ?? {}, b ?? {});
}

/** Equality of JSON values: order of keys does not count, an undefined member counts as absent. */
function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((element, index) => sameValue(element, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = definedKeys(a);
  return keys.length === definedKeys(b).length && keys.every((key) => sameValue(a[key], b[key]));
}

function definedKeys(record: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(record).filter((key) => record[key] !== undefined);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
