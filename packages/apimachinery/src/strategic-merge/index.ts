/**
 * Strategic merge patches of the built-in kinds, in a separate module because of the table of merge keys.
 *
 * @packageDocumentation
 */
export { createStrategicPatch, hasStrategicMerge } from './create-strategic-patch.js';
export type { KindNames } from './create-strategic-patch.js';
