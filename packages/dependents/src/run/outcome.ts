import type { Kind } from '@kctl/apimachinery';
import type { ApplyMemo, FieldDifference } from '@kctl/client';
import type { PlannedField } from '@kctl/controller';
import type { AnyObject } from '../definition/node.js';
import type { NodeFailure } from '../errors.js';
import type { NodeAction } from '../results.js';
import type { Applying } from './apply-fields.js';
import type { Remembered } from './memory.js';

/** Outcome of one object. */
export interface Outcome {
  readonly object?: AnyObject;
  readonly action: NodeAction;
  /** Fields that differed. */
  readonly differences: readonly FieldDifference[];
  /** Of an object that was created, its fields; otherwise those that differed. */
  readonly fields?: readonly PlannedField[];
  readonly failure?: NodeFailure;
  /** It is on its way out, and will be created again. */
  readonly terminating?: boolean;
}

/** State of the cluster, beside the member. */
export interface Surroundings {
  readonly applying: Applying;
  readonly remembered: Remembered;
  readonly memo: ApplyMemo;
  readonly now: number;
  /** Whether a child of this run is the namespace, which a plan does not create. */
  makesNamespace(namespace: string | undefined): boolean;
  onEvent(type: 'normal' | 'warning', reason: string, note: string): void;
}

/** Outcome of an object to which nothing was done. */
export function unchanged(object: AnyObject): Outcome {
  return { object, action: 'none', differences: [] };
}

/** Remembers an apply that is a no-op; a plan remembers nothing. */
export function note(
  { applying, memo }: Surroundings,
  object: AnyObject,
  { kind, configuration }: { readonly kind: Kind; readonly configuration: object },
): void {
  if (!applying.dryRun) memo.noteNoop(kind, object, configuration);
}
