/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { requireCallOptions } from '../call-options.js';
export { listWithin } from '../read-scope.js';
export type { ReadScope } from '../read-scope.js';
export { requireClientPart, requireListAnswer, requireObjectAnswer } from '../checks/answers.js';
export {
  requireClient,
  requireList,
  requireName,
  requireObject,
  requireOptionsObject,
} from '../checks/require-arguments.js';
export { requireKey, requireKind } from '../checks/require-kind.js';
export { waitForEventOptionNames } from '../watching/wait-for-event.js';
