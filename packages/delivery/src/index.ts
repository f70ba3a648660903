/**
 * The one engine that calls event handlers in order, one callback at a time, merged per object, in slices.
 *
 * @packageDocumentation
 */
export { Audience } from './audience.js';
export type { Listener, Publication } from './audience.js';
export { coalesce } from './coalesce.js';
export type { CoalesceOptions } from './coalesce.js';
export { Delivery } from './delivery.js';
export type { DeliveryFailure, DeliveryOptions } from './delivery-options.js';
export type { EventTraits, EventType } from './event-traits.js';
export type { Series } from './series.js';
export { Turn } from './turn.js';
export type { TurnTaker } from './turn.js';
