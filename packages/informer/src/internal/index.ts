/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { storageOption } from '../bytes/storage.js';
export { transformObject } from '../decoders/transform-object.js';
export { InformerStartedError, InformerStoppedError, SyncError } from '../errors.js';
export { requireHandler, requireHandlerOptions } from '../handlers/handler-options.js';
export { describeInformerState } from '../informer-state.js';
export { FifoClosedError } from '../fifo/errors.js';
export { reflectorConfigProblems } from '../reflector/reflector-config.js';
