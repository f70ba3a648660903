/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { isJsonObject } from '../json-object.js';
export { JsonPathError } from '../json-path.js';
export { formatGroupKind, formatGroupResource, isSameKind, groupOfApiVersion } from '../kind.js';
export { AlreadyOwnedError } from '../owner-reference.js';
export { storedQuantity } from '../quantity.js';
export { compareVersions } from '../scheme.js';
export { CallSiteError } from '../call-site-error.js';
export { typedStatus } from '../typed-status.js';
