import type { Verb } from '../resource/resource.js';

/** Which requests a fault strikes. All that is given must hold. */
export interface FaultMatch {
  readonly verb?: Verb | readonly Verb[];
  readonly group?: string;
  /** The plural, e.g. `configmaps`. */
  readonly resource?: string;
  /** '' for the object itself. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** A part of the User-Agent. */
  readonly userAgent?: string;
  /** Only the nth request that matches otherwise, counted from 1. */
  readonly nth?: number;
  /** The chance that a matching request is struck, 0 to 1. @default 1 */
  readonly probability?: number;
}

/** Action of a fault. Actions on watches count the events that went through before they strike. */
export type FaultAction =
  /** Answers later; time is the server's clock. */
  | { readonly type: 'delay'; readonly ms: number }
  /** Answers with a failure instead of doing anything. */
  | {
      readonly type: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** Answers 409 Conflict instead of doing anything. */
  | { readonly type: 'conflict' }
  /**
   * Does what was requested, then answers with a failure (default 500) or, with code 0, cuts the connection, the
   * nastiest real case.
   */
  | { readonly type: 'commitThenFail'; readonly code?: number }
  /** Cuts the connection instead of answering. */
  | { readonly type: 'rejectConnection' }
  /** Answers with the first bytes of the body, then cuts the connection. */
  | { readonly type: 'truncateBody'; readonly bytes: number }
  /** Answers a read from the past, as a lagging replica does, this many revisions behind, as far as history reaches. */
  | { readonly type: 'staleRead'; readonly revisionsBehind: number }
  /** Ends a watch with an ERROR event 410. */
  | { readonly type: 'expireWatch'; readonly afterEvents?: number }
  /** Ends a watch, properly (default) or by cutting the connection. */
  | { readonly type: 'dropWatch'; readonly how?: 'end' | 'destroy'; readonly afterEvents?: number }
  /** Leaves a watch open and silent forever. */
  | { readonly type: 'stallWatch'; readonly afterEvents?: number }
  /** Cuts the connection in the middle of an event. */
  | { readonly type: 'tearEvent'; readonly afterEvents?: number }
  /** Sends every event twice. */
  | { readonly type: 'duplicateEvent' };

/** A fault to inject. */
export interface Fault {
  /** Stands in the journal. @default the action's type */
  readonly name?: string;
  /** @default all requests */
  readonly match?: FaultMatch;
  readonly action: FaultAction;
  /** How often it strikes at most. @default without limit */
  readonly times?: number;
  /** Of this fault's own random sequence. @default made from the seed of the server and the number of the fault */
  readonly seed?: number;
}

/** A fault that was added. */
export interface FaultHandle {
  /** How often it has struck. */
  readonly fired: number;
  remove(): void;
}

/**
 * Faults on demand. The same faults, added in the same order under the same seed, strike the same requests of the same
 * sequence. Each strike is noted in the journal.
 */
export interface Faults {
  add(fault: Fault): FaultHandle;
  /** Removes all faults. */
  clear(): void;
  /**
   * The server goes down and comes back on the same port with the same data. Connections are cut, watches end without a
   * word, new connections are refused for `downMs`.
   */
  failover(options?: { readonly downMs?: number }): Promise<void>;
}
