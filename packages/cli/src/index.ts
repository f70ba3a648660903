/**
 * `kctl`: manifests, roles and a development loop for an operator that `defineOperator` of @kctl/operator defines.
 *
 * @packageDocumentation
 */
export { doctor } from './commands/doctor.js';
export type { Finding } from './doctor/finding.js';
export type { DoctorOptions } from './commands/doctor.js';
export { CliError, isCliError } from './errors.js';
export type { CliIo, TextStyle } from './io.js';
export { generateFiles } from './manifests/generate-files.js';
export type { GeneratedFiles, ManifestInput } from './manifests/manifest-input.js';
export { runKctl } from './program.js';
