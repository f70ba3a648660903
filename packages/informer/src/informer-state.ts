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
  | 'initial-events'
  | 'streaming-unsupported'
  | 'decode'
  /** The store of a bare reflector did not take what was listed. */
  | 'store';

/** Activity of an informer. `listing` covers both ways to get the initial state; `since` is monotonic time in ms. */
export type InformerState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'starting'; readonly since: number }
  | {
      readonly phase: 'listing';
      readonly since: number;
      readonly streaming: boolean;
      readonly attempts: number;
      readonly trouble?: InformerTrouble;
    }
  | { readonly phase: 'watching'; readonly since: number; readonly resourceVersion: string }
  | {
      readonly phase: 'retrying';
      /** Start of the trouble, not reset by further failures. */
      readonly since: number;
      readonly attempts: number;
      /** Monotonic time of the next attempt. */
      readonly nextAttemptAt: number;
      readonly trouble: InformerTrouble;
    }
  | { readonly phase: 'stopped'; readonly since: number; readonly trouble?: InformerTrouble };

/** A state in a sentence, for errors and logs. */
export function describeInformerState(state: InformerState, trouble: InformerTrouble | undefined, now: number): string {
  const seconds = (since: number): string => `${((now - since) / 1000).toFixed(1)} s`;
  const because = trouble === undefined ? '' : ` because of ${trouble.reason}: ${trouble.message}`;
  switch (state.phase) {
    case 'idle':
      return 'it was not started';
    case 'starting':
      return `it is starting since ${seconds(state.since)}`;
    case 'listing':
      return `it is ${state.streaming ? 'streaming the initial state' : 'listing'} since ${seconds(state.since)}${because}`;
    case 'watching':
      return `it is watching from version ${state.resourceVersion}`;
    case 'retrying':
      return `it is retrying since ${seconds(state.since)} (attempt ${state.attempts})${because}`;
    case 'stopped':
      return `it has stopped${because}`;
  }
}
