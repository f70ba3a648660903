import type { AuthorizationQuestion } from '@kctl/cel/internal';
import type { UntypedObject } from '@kctl/apimachinery';
import type { JsonObject } from '@kctl/crd/internal/engine';

/** Input of the expressions of one write, as plain data that can be passed to another thread. */
export interface EvaluationFacts {
  /** The AdmissionRequest, objects included. */
  readonly request: JsonObject;
  readonly params: UntypedObject | undefined;
  readonly namespace: JsonObject | null;
  /** Start of `authorizer.requestResource`. */
  readonly requestResource: Omit<AuthorizationQuestion, 'verb'>;
}

/** Result of match conditions. */
export interface ConditionVerdict {
  readonly matches: boolean;
  /** Error message; with it, `failurePolicy` decides. */
  readonly problem?: string;
}

/** Why a policy refuses a write. */
export interface Decision {
  readonly message: string;
  readonly reason: string;
  /** Which validation it comes from. */
  readonly index: number;
}

/** Result of a policy for one write. */
export interface Verdict {
  readonly decisions: readonly Decision[];
  /** Audit annotations, each with a value or an error. */
  readonly annotations: readonly ({ readonly key: string; readonly value: string } | { readonly problem: string })[];
}

/** Result of a mutation of a policy for one write. */
export type MutationVerdict =
  | { readonly configuration: JsonObject }
  | { readonly operations: readonly JsonObject[] }
  | { readonly problem: string };
