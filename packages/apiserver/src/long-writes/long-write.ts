import type { Status } from '@kctl/apimachinery';
import type { Decision } from '../authorization/authorizer.js';
import type { User } from '../server/api-request.js';
import type { ResourcePath } from '../server/request-info.js';
import type { LongContent } from '../storage/long-object.js';

/** An object of the store as text. */
export interface TextRecord {
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  /** Its JSON, in storage form. */
  readonly text: string;
}

/** A write that another thread prepares: the request, and all of the store that it may look at. */
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
  /** Tables that may be looked at: anything else makes it {@link LongWritten.elsewhere}. */
  readonly tables: readonly string[];
  readonly podServiceAccounts: boolean;
  /** Whether the user may create the object, where a PUT or PATCH may turn out to do that. */
  readonly creation: Decision | undefined;
  /** Time of the write, in ms since the epoch. */
  readonly nowMs: number;
  readonly seed: number;
  readonly uid: string;
}

/** What has been prepared. */
export type LongWritten =
  /** It needs more of the server than the other thread has. */
  | { readonly type: 'elsewhere' }
  | { readonly type: 'failed'; readonly status: Status; readonly warnings: readonly string[] }
  | {
      readonly type: 'prepared';
      readonly status: 200 | 201;
      readonly warnings: readonly string[];
      /** The new state, to be committed; absent where nothing changes, and in a dry run. */
      readonly stored?: { readonly table: string; readonly key: string; readonly content: LongContent };
      /** The object in the version of the URL, where that is not the stored one or the present one. */
      readonly shown?: LongContent;
    };
