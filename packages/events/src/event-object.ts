import type { Event as CoreEvent } from '@kctl/apimachinery/kinds/core/v1';
import type { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import type { EventReference } from './event.js';
import type { Series } from './series.js';

/** The object of events.k8s.io/v1 for a series. */
export function toEvent(series: Series): Event {
  const { recorded, note, namespace, name, firstAt, count } = series;
  const { controller, instance, regarding, related, type, reason, action, annotations } = recorded;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations: { ...annotations } }) },
    eventTime: microTime(firstAt),
    reportingController: controller,
    reportingInstance: instance,
    action,
    reason,
    regarding: { ...regarding },
    ...(related === undefined ? {} : { related: { ...related } }),
    note,
    type,
    ...(count > 1 ? seriesOf(series) : {}),
  };
}

/** The object of core/v1 for a series, for servers without events.k8s.io/v1. */
export function toCoreEvent(series: Series): CoreEvent {
  const { recorded, note, namespace, name, firstAt, lastAt, count } = series;
  const { controller, instance, regarding, related, type, reason, action, annotations } = recorded;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations: { ...annotations } }) },
    involvedObject: { ...regarding },
    ...(related === undefined ? {} : { related: { ...related } }),
    reason,
    action,
    message: note,
    type,
    source: { component: controller },
    reportingComponent: controller,
    reportingInstance: instance,
    eventTime: microTime(firstAt),
    firstTimestamp: seconds(firstAt),
    lastTimestamp: seconds(lastAt),
    count,
    ...(count > 1 ? seriesOf(series) : {}),
  };
}

/** The merge patch that updates the count of the series. */
export function toPatch(series: Series): object {
  return seriesOf(series);
}

/** The same for an object that was written to core/v1; the note may change there. */
export function toCorePatch(series: Series): object {
  const { count, lastAt, note } = series;
  return { ...seriesOf(series), count, lastTimestamp: seconds(lastAt), message: note };
}

/**
 * Patch of the note and the count alone, for an object of events.k8s.io/v1, whose note can be changed only through
 * core/v1.
 */
export function toNotePatch(series: Series): object {
  return { ...seriesOf(series), message: series.note };
}

function seriesOf({ count, lastAt }: Series): { readonly series: { count: number; lastObservedTime: string } } {
  return { series: { count, lastObservedTime: microTime(lastAt) } };
}

/** `metav1.MicroTime`: the server refuses fewer than six digits. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

/** `metav1.Time`. */
function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** `<object>.<hex nanoseconds>`, or, if that is not a valid name, the unique part alone. */
export function eventName(regarding: EventReference, unique: string): string {
  const name = `${regarding.name ?? ''}.${unique}`;
  return name.length <= 253 && dnsSubdomain.test(name) ? name : `event.${unique}`;
}
