/** Why an informer is not watching. */
export interface InformerTrouble {
  /** Class of the failure, for alerts: 'forbidden', 'not-found', 'expired', 'throttled', 'connection', … */
  readonly reason: TroubleReason;
  /** For people. */
  readonly message: string;
  readonly error: unknown;
}

/** Classes of failures of a list or watch. */
export type TroubleReason =
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'expired'
  | 'too-large-resource-version'
  | 'throttled'
  | 'internal-error'
  | 'status'
  | 'connection'
  | 'idle'
  | 'short-watch'
  | 'streaming-unsupported'
  | 'decode';

/**
 * What an informer is doing. `listing` covers both ways to get the initial state; `since` is monotonic time in ms.
 */
export type InformerState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'starting'; readonly since: number }
  | { readonly phase: 'listing'; readonly since: number; readonly streaming: boolean; readonly attempts: number; readonly trouble?: InformerTrouble }
  | { readonly phase: 'watching'; readonly since: number; readonly resourceVersion: string }
  | {
      readonly phase: 'retrying';
      /** When the trouble began: not reset by further failures. */
      readonly since: number;
      readonly attempts: number;
      /** Monotonic time of the next attempt. */
      readonly nextAttemptAt: number;
      readonly trouble: InformerTrouble;
    }
  | { readonly phase: 'stopped'; readonly since: number; readonly trouble?: InformerTrouble };
