import type { EventReference, Happening } from './event.js';

/** One event, and how often it was repeated. */
export interface Series {
  readonly key: string;
  readonly happening: Happening;
  readonly namespace: string;
  /** The name of the Event object; a new one when the server has forgotten the old. */
  name: string;
  /** Wall-clock time in ms. */
  readonly firstAt: number;
  lastAt: number;
  /** Monotonic time in ms. */
  lastSeen: number;
  count: number;
  /** The count that the server knows; 0: it does not know the event. */
  sentCount: number;
}

/**
 * What makes two events the same: everything but the note. Mirrors client-go's `eventKey`, whose object references
 * count without their resourceVersion here: an object that changes while it fails is still one series.
 */
export function seriesKey(happening: Happening): string {
  const { type, action, reason, controller, instance, regarding, related } = happening;
  return JSON.stringify([
    type,
    action,
    reason,
    controller,
    instance,
    identity(regarding),
    related === undefined ? [] : identity(related),
  ]);
}

function identity({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
  fieldPath,
}: EventReference): readonly (string | undefined)[] {
  return [apiVersion, kind, namespace, name, uid, fieldPath];
}

/** What the spam filter tells apart. */
export function spamSource({ controller, instance, regarding, type }: Happening): string {
  return JSON.stringify([controller, instance, type, identity({ ...regarding, fieldPath: '' })]);
}
