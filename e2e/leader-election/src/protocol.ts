/** What runs in a candidate: an elector alone, or a manager with it. */
export type Program = 'elector' | 'bare' | 'facade';

/** What a candidate process is started with. */
export interface CandidateSettings {
  readonly identity: string;
  /** Through the proxy of this candidate. */
  readonly server: string;
  readonly ca: string;
  readonly token: string;
  readonly namespace: string;
  readonly logFile: string;
  readonly durations: Durations;
  /** Whether a worker thread renews. */
  readonly worker: boolean;
  readonly program: Program;
  /** Grace period of the stop of a manager, in ms. */
  readonly graceMs: number;
  /** How long it waits before it takes part, in ms: a program that starts slowly. */
  readonly startDelayMs: number;
}

export interface Durations {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** What the harness tells a candidate, one JSON object a line on its stdin. */
export type Command =
  /** `straggleMs`: the work goes on for this long, whatever it is told. */
  | { readonly command: 'stop'; readonly straggleMs?: number }
  | { readonly command: 'step-down' }
  /** Blocks the event loop, in the middle of a protected write if `amidWrite` is set and it leads. */
  | { readonly command: 'stall'; readonly ms: number; readonly amidWrite: boolean }
  | { readonly command: 'jump'; readonly ms: number };

/** What is asked of a lock. */
export type LockVerb = 'get' | 'create' | 'update';

/** One line of a candidate's own log. `at`: CLOCK_MONOTONIC in ms, which all processes of a machine share. */
export type LogEntry =
  | { readonly what: 'lead' | 'stalled' | 'resumed'; readonly at: number; readonly term: number }
  /** The lock answered; `holder` is undefined while there is none. */
  | { readonly what: 'observed'; readonly at: number; readonly verb: LockVerb; readonly holder: string | undefined }
  | {
      readonly what: 'unanswered';
      readonly at: number;
      readonly verb: LockVerb;
      readonly tookMs: number;
      readonly error: string;
    }
  /** The event loop was this late, in ms. */
  | { readonly what: 'lagged'; readonly at: number; readonly ms: number }
  | { readonly what: 'begin'; readonly at: number; readonly term: number; readonly write: number }
  | {
      readonly what: 'end';
      readonly at: number;
      readonly term: number;
      readonly write: number;
      /** `refused`: the fence let nothing out. */
      readonly outcome: 'ok' | 'refused' | 'failed';
    };

/** CLOCK_MONOTONIC in ms. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** The object that is written under protection. */
export const protectedName = 'protected';
