/**
 * Applies manifests (text, files, objects) as `kubectl apply --server-side` does: in order of dependency, with pruning by an
 * ApplySet, differences and dry run.
 *
 * @packageDocumentation
 */
export { applyManifests, ApplyManifestsError, isApplyManifestsError } from './apply-manifests.js';
export type { AppliedObject, ApplyManifestsOptions, ManifestProgress } from './apply-manifests.js';
export type { ApplySetParent } from './apply-set.js';
export type { ManifestClient } from './client.js';
export { ApplySetError, isApplySetError, isManifestError, ManifestError } from './errors.js';
export { readManifests } from './manifest.js';
export type { Manifest, ManifestSource } from './manifest.js';
