/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { isKindConverter, uncoveredVersions } from '../handler/converter.js';
export { registrationProblem } from '../handler/registration.js';
