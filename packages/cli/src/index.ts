/**
 * `kctl`: manifests, roles and a development loop for an operator that `defineOperator` of @kctl/operator defines.
 *
 * @packageDocumentation
 */
export { doctor, formatFindings } from './commands/doctor.js';
export type { DoctorOptions, Finding } from './commands/doctor.js';
export { CliError, isCliError } from './errors.js';
export type { CliIo } from './io.js';
export { fileGroups, generateFiles } from './manifests/generate-files.js';
export type { FileGroup } from './manifests/generate-files.js';
export type { GeneratedFiles, ManifestInput } from './manifests/manifest-input.js';
export { runKctl } from './program.js';
