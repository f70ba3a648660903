/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { IndexConflictError, UnknownIndexError } from '../errors.js';
export { deepFreeze, shareFreeze } from '../freeze.js';
export { namespaceIndexName } from '../index-definition.js';
export { storeObject } from '../stored-object.js';
