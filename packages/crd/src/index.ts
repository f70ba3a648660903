/**
 * Custom resources, validated as the API server validates them.
 *
 * @packageDocumentation
 */
export { CustomResourceValidator } from './engine/custom-resource.js';
export type { CustomResourceRules } from './engine/custom-resource.js';
