import type { Status } from '@kctl/apimachinery';
import type { Attributes } from '../authorization/attributes.js';
import type { Decision } from '../authorization/authorizer.js';
import type { User } from '../protocol/api-request.js';
import type { ResourcePath } from '../protocol/request-info.js';
import type { LongContent } from '../storage/long-object.js';
import type { WebhookClientConfig } from '../webhooks/client-config.js';
import type { WebhookCallAnswer } from '../webhooks/webhook-call.js';

/** An object of the store as JSON. */
export interface TextRecord {
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  /** Its JSON, in storage form. */
  readonly text: string;
}

/** A call of a webhook that a write waits for. The thread of the server makes it. */
export interface AskedCall {
  /** Which call of the write it is, from 0. */
  readonly index: number;
  readonly config: WebhookClientConfig;
  /** The review, JSON. */
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  readonly remainingMs?: number;
}

/** Outcome of a call. */
export interface CallOutcome {
  readonly index: number;
  readonly url: string;
  readonly outcome: { readonly answer: WebhookCallAnswer } | { readonly problem: string; readonly isCanceled: boolean };
}

/** Data that a write may read besides its records, and the answers that it has so far. */
export interface ReviewFacts {
  /** Whether plugins of admission may be concerned. */
  readonly isReviewed: boolean;
  /** Configurations of webhooks and policies, definitions of parameters, and parameters. */
  readonly records: readonly TextRecord[];
  /** Tables that {@link records} holds all of. */
  readonly tables: readonly string[];
  /** In the order in which the webhooks answered. */
  readonly outcomes: readonly CallOutcome[];
  /** Identifiers of the first reviews, if they have been made. */
  readonly uids: readonly string[];
  /** Decisions of the authorizer, by the attributes as JSON. */
  readonly decisions: Readonly<Record<string, Decision>>;
}

/** A write that another thread prepares, with the request, and all parts of the store that it may read. */
export interface LongWrite {
  readonly type: 'write';
  readonly method: string;
  readonly target: string;
  readonly path: ResourcePath;
  readonly contentType: string | undefined;
  readonly userAgent: string | undefined;
  readonly body: Uint8Array;
  readonly user: User;
  /** The definition of a custom resource, its namespace, and the object that is there. */
  readonly records: readonly TextRecord[];
  /** Tables that may be read; others are requested. */
  readonly tables: readonly string[];
  readonly podServiceAccounts: boolean;
  /** Time of the write, in ms since the epoch. */
  readonly nowMs: number;
  readonly seed: number;
  readonly uid: string;
  /** Remaining time of the request, in ms. */
  readonly remainingMs: number;
  readonly review: ReviewFacts;
}

/** The answers that a write needs before it can go on. */
export interface Asked {
  readonly calls: readonly AskedCall[];
  readonly decisions: readonly Attributes[];
  readonly tables: readonly string[];
}

/** Result of preparing a write. */
export type LongWritten =
  /** It needs more of the server than the other thread has. */
  | { readonly type: 'elsewhere' }
  /** It begins again with the answers. */
  | { readonly type: 'asks'; readonly asked: Asked }
  | {
      readonly type: 'failed';
      readonly status: Status;
      readonly warnings: readonly string[];
      readonly annotations?: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'prepared';
      readonly status: 200 | 201;
      readonly warnings: readonly string[];
      readonly annotations?: Readonly<Record<string, string>>;
      /** The new state, to be committed; absent if nothing changes, and in a dry run. */
      readonly stored?: { readonly table: string; readonly key: string; readonly content: LongContent };
      /** The object to be removed because its last finalizer went. */
      readonly removed?: { readonly table: string; readonly key: string };
      /** The object in the version of the URL, if that is not the stored one or the present one. */
      readonly shown?: LongContent;
    };
