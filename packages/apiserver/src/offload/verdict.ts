import type { AuthorizationQuestion } from '@kctl/cel';
import type { UntypedObject } from '@kctl/apimachinery';
import type { JsonObject } from '@kctl/crd/engine';

/** What expressions of one write read: plain data, which another thread can be given. */
export interface EvaluationFacts {
  /** The AdmissionRequest, objects included. */
  readonly request: JsonObject;
  readonly params: UntypedObject | undefined;
  readonly namespace: JsonObject | null;
  /** What `authorizer.requestResource` begins with. */
  readonly requestResource: Omit<AuthorizationQuestion, 'verb'>;
}

/** What came of match conditions. */
export interface ConditionVerdict {
  readonly matches: boolean;
  /** What went wrong; with it, `failurePolicy` decides. */
  readonly problem?: string;
}

/** Why a policy refuses a write. */
export interface Decision {
  readonly message: string;
  readonly reason: string;
  /** Which validation it comes from. */
  readonly index: number;
}

/** What a policy says of one write. */
export interface Verdict {
  readonly decisions: readonly Decision[];
  /** Audit annotations: a value, or what went wrong. */
  readonly annotations: readonly ({ readonly key: string; readonly value: string } | { readonly problem: string })[];
}

/** What a mutation of a policy makes of one write. */
export type MutationVerdict =
  | { readonly configuration: JsonObject }
  | { readonly operations: readonly JsonObject[] }
  | { readonly problem: string };
