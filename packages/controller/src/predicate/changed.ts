import type { LabelSelector, Selector } from '@kctl/apimachinery';
import { isSameJson, labelSelectorFrom } from '@kctl/apimachinery';
import type { EventObject, ObjectEvent, UpdateEvent } from '../event/object-event.js';
import { headerOfEvent, oldHeaderOfEvent } from '../event/object-event.js';
import { requireFunction } from '../event/required.js';
import { markGenerational } from './generation.js';
import type { Predicate } from './predicate.js';

/** Drops updates that replay an unchanged object. Mirrors `predicate.ResourceVersionChangedPredicate`. */
export const resourceVersionChanged: Predicate = onUpdate(
  (event) => headerOfEvent(event).resourceVersion !== oldHeaderOfEvent(event).resourceVersion,
);

/**
 * Drops updates that do not change `metadata.generation`. For kinds whose server bumps it, these are changes of status
 * or metadata only. Note that setting `metadata.deletionTimestamp` bumps the generation, and changes of labels,
 * annotations and finalizers do not. If objects have no generation (ConfigMaps, Secrets, …) it drops every update;
 * sources of a kind warn of that once, at their start. Mirrors `predicate.GenerationChangedPredicate`.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { controllerManagedBy } from '@kctl/builder';
 * import { generationChanged } from '@kctl/controller';
 *
 * controllerManagedBy(manager)
 *   .for(Deployment, { predicates: [generationChanged] }) // changes of the status are dropped
 *   .reconcile(async () => {});
 * ```
 */
export const generationChanged: Predicate = markGenerational(
  onUpdate((event) => headerOfEvent(event).generation !== oldHeaderOfEvent(event).generation),
);

/**
 * Drops updates that leave the annotations alone; decodes both objects. Mirrors `predicate.AnnotationChangedPredicate`.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { controllerManagedBy } from '@kctl/builder';
 * import { annotationChanged, generationChanged, or } from '@kctl/controller';
 *
 * controllerManagedBy(manager)
 *   .for(Deployment, { predicates: [or(generationChanged, annotationChanged)] })
 *   .reconcile(async () => {});
 * ```
 */
export const annotationChanged: Predicate = onUpdate(
  ({ oldObject, object }) => !isSameJson(oldObject.metadata.annotations ?? {}, object.metadata.annotations ?? {}),
);

/** Drops updates that leave the labels alone. Mirrors `predicate.LabelChangedPredicate`. */
export const labelChanged: Predicate = onUpdate(
  (event) => !isSameJson(oldHeaderOfEvent(event).labels, headerOfEvent(event).labels),
);

/**
 * Passes events of objects whose (new) labels match. Mirrors `predicate.LabelSelectorPredicate`.
 *
 * @throws TypeError when the selector is not valid
 */
export function labelSelectorMatches(
  selector: Selector | LabelSelector | Readonly<Record<string, string>> | string,
): Predicate {
  const parsed = labelSelectorFrom(selector);
  return (event) => parsed.matches(headerOfEvent(event).labels);
}

/**
 * Drops updates that do not change a projection of the object, compared as JSON; more precise than
 * {@link generationChanged} if the server does not bump it. Mirrors kube-rs's hash predicates, without their state,
 * because old and new object are both at hand.
 */
export function projectionChanged<T = EventObject>(project: (object: T) => unknown): Predicate<T> {
  requireFunction('projectionChanged', 'project', project);
  return (event: ObjectEvent<T>) => {
    if (event.type !== 'update') return true;
    const before = project(event.oldObject);
    const after = project(event.object);
    return before !== after && !isSameJson(before, after);
  };
}

function onUpdate(hasChanged: (event: UpdateEvent) => boolean): Predicate {
  return (event) => event.type !== 'update' || hasChanged(event);
}
