/**
 * `npm create @kctl`: an operator with a test, manifests, an image and a workflow.
 *
 * @packageDocumentation
 */
export { addToProject } from './add-to-project.js';
export type { AddOutcome, AddToProjectOptions, Addition } from './add-to-project.js';
export { createProject } from './create-project.js';
export type { CreateProjectOptions } from './create-project.js';
export type { ProjectNames } from './names.js';
export { runCreate } from './run.js';
export type { CreateIo } from './run.js';
export { updateProject } from './update-project.js';
export type { RenamedFile, UpdateOutcome, UpdateProjectOptions } from './update-project.js';
