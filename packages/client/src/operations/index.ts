/**
 * Operations on workloads and nodes, as in kubectl, such as evict, drain, rollouts, scale, owners and storage
 * migration.
 *
 * @packageDocumentation
 */
export { cordon, drain, DrainRefusedError, isDrainRefused, uncordon } from './drain.js';
export type { CordonOptions, DrainedPod, DrainOptions, DrainProgress } from './drain.js';
export { evict } from './evict.js';
export type { EvictOptions } from './evict.js';
export { NodeMetrics, PodMetrics, topNodes, topPods, totalUsage } from './metrics.js';
export type { NodeUsage, PodUsage, ResourceUsage, TopNodesOptions, TopPodsOptions } from './metrics.js';
export { migrateStorage } from './migrate-storage.js';
export type {
  MigrateStorageOptions,
  StorageMigration,
  StorageMigrationClient,
  StorageMigrationProgress,
} from './migrate-storage.js';
export { isStorageMigration, StorageMigrationError } from './storage-migration-error.js';
export type { FailedMigration } from './storage-migration-error.js';
export { childrenOf, ownersOf } from './owners.js';
export type { ChildrenOptions, OwnerLink, OwnersOptions } from './owners.js';
export {
  isRolloutStalled,
  pauseRollout,
  restartRollout,
  resumeRollout,
  rolloutStatus,
  RolloutStalledError,
  undoRollout,
  waitForRollout,
} from './rollout.js';
export type { RestartOptions, RolloutKind, RolloutStatus, UndoOptions, WaitForRolloutOptions } from './rollout.js';
export { getScale, scale } from './scale.js';
export type { Scale, ScaleOptions } from './scale.js';
