/**
 * Kubernetes Events that aggregate, never block and never spam.
 *
 * @packageDocumentation
 */
export { createEventBroadcaster } from './event-broadcaster.js';
export type { EventBroadcaster, EventBroadcasterOptions } from './event-broadcaster.js';
export type { EventApi } from './event-delivery.js';
export type { EventDetails, EventRecorder, EventReference, EventSubject, EventType } from './event.js';
