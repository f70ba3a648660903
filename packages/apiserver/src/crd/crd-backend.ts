import type { UntypedObject } from '@kctl/apimachinery';

/**
 * Storage operations that the CRD controller needs. All calls are synchronous, since a CRD is served in the turn it was
 * written.
 */
export interface CrdBackend {
  /** A stored CustomResourceDefinition. */
  get(name: string): UntypedObject | undefined;
  /** All stored CustomResourceDefinitions. */
  list(): Iterable<UntypedObject>;
  /** Writes what `mutate` returns as the next version (no write when it returns the same object); a CRD that is being deleted and has no finalizer left is removed. */
  update(name: string, mutate: (crd: UntypedObject) => UntypedObject): void;
  /** Requests the deletion of every instance in a storage (as a deletecollection would). */
  deleteInstances(storageKey: string): void;
  /** How many instances a storage still holds. */
  countInstances(storageKey: string): number;
}

/**
 * Names, conditions and clean-up of CustomResourceDefinitions, like apiextensions' naming, establishing and finalizing
 * controllers.
 */
export interface CrdController {
  /** Brings one CRD up to date. Call it after every committed change of a CRD, and once for each at start. */
  sync(name: string): void;
  /** As {@link sync}, for a state that may have come back after a restore. */
  resync(name: string): void;
  /** Call it when an instance was removed. Finishes the deletion of its CRD after the last instance. */
  instanceRemoved(storageKey: string): void;
}
