import type { RuleFindings, StructuralSchema } from '@kctl/cel';
import type { AuthorizationQuestion } from '@kctl/cel/internal';
import type { UntypedObject } from '@kctl/apimachinery';
import type { Fragment, FragmentJob, FragmentV2 } from './fragment.js';
import type { RowContent } from '../resource/resource.js';
import type { LongRead, LongReadResult } from './long-read.js';
import type { LongWrite, LongWritten } from './long-write.js';
import type { ConditionVerdict, EvaluationFacts, MutationVerdict, Verdict } from './verdict.js';

/** Queries of an expression to the authorizer, and its answers, by the query as JSON. */
export type KnownAnswers = Readonly<Record<string, { readonly allowed: boolean; readonly reason?: string }>>;

/** The row of one object in a Table. */
export interface RowJob {
  readonly type: 'row';
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** `additionalPrinterColumns` of a custom resource; absent for built-in kinds. */
  readonly columns?: { readonly source: unknown };
  /** The object as JSON. */
  readonly text: string;
  /** The time that ages count to, in ms since the epoch. */
  readonly nowMs: number;
}

/** Work that could hold up other requests, as another thread is given it. */
export type Job =
  /** A write of a long object, up to its commit. */
  | LongWrite
  /** Stored objects in a served version. */
  | LongRead
  /** The value of a YAML document, as JSON. */
  | { readonly type: 'yaml'; readonly text: string }
  /** The protobuf message of an object. */
  | { readonly type: 'protobuf'; readonly apiVersion: string; readonly kind: string; readonly text: string }
  | RowJob
  /** Additions of a long definition to an OpenAPI document, and a document in protobuf. */
  | FragmentJob<'v2'>
  | FragmentJob<'v3'>
  | { readonly type: 'openApiDocument'; readonly text: string }
  /** JSON as YAML. */
  | { readonly type: 'toYaml'; readonly json: string }
  /** The rules of a custom resource. */
  | { readonly type: 'rules'; readonly schema: StructuralSchema; readonly object: unknown; readonly old: unknown }
  /** The match conditions of a webhook. */
  | {
      readonly type: 'conditions';
      readonly conditions: readonly string[];
      readonly facts: EvaluationFacts;
      readonly answers: KnownAnswers;
    }
  /** The validations of a policy. */
  | {
      readonly type: 'validations';
      readonly policy: UntypedObject;
      readonly facts: EvaluationFacts;
      readonly answers: KnownAnswers;
    }
  /** The match conditions of a mutating policy, or one of its mutations. */
  | {
      readonly type: 'mutationConditions';
      readonly policy: UntypedObject;
      readonly facts: EvaluationFacts;
      readonly answers: KnownAnswers;
    }
  | {
      readonly type: 'mutation';
      readonly policy: UntypedObject;
      /** Which of its mutations. */
      readonly index: number;
      readonly facts: EvaluationFacts;
      readonly answers: KnownAnswers;
    };

/** Results of jobs. */
export interface JobResults {
  readonly write: LongWritten;
  readonly read: LongReadResult;
  readonly yaml: { readonly json: string; readonly duplicates: readonly string[] } | { readonly problem: string };
  readonly protobuf: Uint8Array;
  readonly row: RowContent;
  readonly openApiV2: FragmentV2;
  readonly openApiV3: Fragment;
  readonly openApiDocument: Uint8Array;
  readonly toYaml: string;
  readonly rules: RuleFindings;
  readonly conditions: ConditionVerdict | Question;
  readonly validations: Verdict | Question;
  readonly mutationConditions: ConditionVerdict | Question;
  readonly mutation: MutationVerdict | Question;
}

/** The evaluation cannot go on without an answer of the authorizer, and starts again with it. */
export interface Question {
  readonly question: AuthorizationQuestion;
}

/** The result of a job. */
export type JobResult<J extends Job> = JobResults[J['type']];
