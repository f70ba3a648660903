/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { formatResource, needProblems } from '../access-need.js';
export { accessOf } from '../access-use.js';
export { policyRules } from '../policy-rules.js';
