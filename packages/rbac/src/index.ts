/**
 * The rights that an operator needs, generated as roles from its declarations, and compared with the requests that it
 * sends.
 *
 * @packageDocumentation
 */
export { createAccessRecorder } from './access-recorder.js';
export type { AccessRecorder, CountedUse } from './access-recorder.js';
export { accessTo } from './access-need.js';
export type { AccessKind, AccessNeed, AccessOptions, AccessVerb } from './access-need.js';
export type { AccessUse, SentRequest } from './access-use.js';
export { compareAccess, formatAccess } from './compare-access.js';
export type { AccessDifference, MissingAccess, UnusedAccess } from './compare-access.js';
export { generateRbac } from './generate-rbac.js';
export type { GenerateRbacOptions, RbacObject } from './generate-rbac.js';
