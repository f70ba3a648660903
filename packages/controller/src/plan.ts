import type { Kind } from '@kctl/apimachinery';
import type { Client, ReadObject } from '@kctl/client';

/** Field that a planned change would write. Of a Secret it has the path alone. */
export interface PlannedField {
  /** e.g. `spec.template.spec.containers[name=app].image` */
  readonly path: string;
  /** The present value; undefined if there is none. */
  readonly before?: unknown;
  /** The value afterwards; undefined for a field that goes away. */
  readonly after?: unknown;
}

/** Change that a reconcile would make to one object. */
export interface PlannedChange {
  /** The name of the node, with the id if it is a set; undefined for an object that no node has any longer. */
  readonly node: string | undefined;
  /** `Deployment shop/web` */
  readonly target: string;
  readonly action: 'created' | 'applied' | 'recreated' | 'deleted' | 'orphaned' | 'adopted';
  /** Paths of the fields that differ. */
  readonly differences: readonly string[];
  /** The same fields with their values. */
  readonly fields: readonly PlannedField[];
}

/** A node that would not run, and the reason. */
export interface PlannedObstacle {
  readonly node: string;
  readonly state: string;
  readonly message: string;
}

/** Changes that a reconcile of one object would make. */
export interface Plan {
  readonly changes: readonly PlannedChange[];
  readonly obstacles: readonly PlannedObstacle[];
}

/** Plans reconciles of objects of a kind; children that are declared with @kctl/dependents do. */
export interface Planner {
  readonly kind: Kind;
  /** Sends dry runs, and changes nothing. */
  plan(object: ReadObject<Kind>, context: { readonly client: Client; readonly signal?: AbortSignal }): Promise<Plan>;
}
