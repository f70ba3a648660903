import type { NodeAction, NodeState } from './results.js';

/** Change that `reconcile` would make to one object. */
export interface PlannedChange {
  /** The name of the node, with the id if it is a set; undefined for an object that no node has any longer. */
  readonly node: string | undefined;
  /** `Deployment shop/web` */
  readonly target: string;
  readonly action: Exclude<NodeAction, 'none'>;
  /** Fields that differ. Without values for Secrets. */
  readonly differences: readonly string[];
}

/** A node that would not run, and the reason. */
export interface PlannedObstacle {
  readonly node: string;
  readonly state: NodeState;
  readonly message: string;
}

/** Changes that `reconcile` would make. */
export interface Plan {
  readonly changes: readonly PlannedChange[];
  readonly obstacles: readonly PlannedObstacle[];
}
