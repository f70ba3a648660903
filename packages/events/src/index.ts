/**
 * Kubernetes Events that aggregate, never block and never spam.
 *
 * @packageDocumentation
 */
export { createEventBroadcaster } from './event-broadcaster.js';
export type { EventBroadcaster, EventBroadcasterOptions } from './event-broadcaster.js';
export type { EventApi } from './event-delivery.js';
export type { EventDetails, EventRecorder, EventReference, EventSubject, EventType, RecordedEvent } from './event.js';
export { eventsOf } from './events-of.js';
export type { EventsOfOptions } from './events-of.js';
export { createFakeRecorder } from './fake-recorder.js';
export type { FakeRecorder, FakeRecorderOptions } from './fake-recorder.js';
