/**
 * A client that reads from the cache, writes to the server and reads its own writes.
 *
 * @packageDocumentation
 */
export type { CacheView, VersionWaitOptions } from './overlay/cache-view.js';
export { createDelegatingClient } from './delegating-client.js';
export type { DelegatingClient, DelegatingClientOptions } from './delegating-client.js';
export { CachedListError, isCachedListError, isLossyWriteError, LossyWriteError } from './errors.js';
export { createOwnEvents } from './own-events/own-events.js';
export type { ObjectEventHandler, OwnEvents, OwnEventsOptions } from './own-events/own-events.js';
export type {
  ObservableInformer,
  ObservableInformers,
  ObservableLoan,
  ObservedEvent,
  ObserverRegistration,
} from './own-events/own-informers.js';
