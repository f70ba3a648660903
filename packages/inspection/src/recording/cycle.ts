import type { ReconcileContext } from '@kctl/controller';
import type { RequestTally } from '@kctl/telemetry';

/** An event that led to a request: which object, never what is in it. */
export interface RecordedEvent {
  /** ms since 1970. */
  readonly at: number;
  /** The name of the source, e.g. `kind source: Pod`. */
  readonly source: string;
  readonly type: string;
  /** Namespace and name; hidden for Secrets. '' for what has none. */
  readonly object: string;
  /** '' where it is not known. */
  readonly resourceVersion: string;
}

/** A write that a run has sent. */
export interface RecordedWrite {
  /** ms since 1970 at which it was answered. */
  readonly at: number;
  readonly ms: number;
  readonly verb: string;
  /** `Deployment.apps` */
  readonly kind: string;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly object: string;
  /** What the server answered; '' where it made no version, or the write has failed. */
  readonly resourceVersion: string;
  /** Why it has failed; undefined where it did not fail. */
  readonly failure: string | undefined;
}

/** How a run ended. */
export interface RecordedEnd {
  readonly ms: number;
  readonly result: string;
  readonly failure: string | undefined;
  /** When the key was to run again, in ms from the end; undefined: not before the next event. */
  readonly nextMs: number | undefined;
  /** The `reconcileID` of the log lines; of failed runs alone. */
  readonly reconcileId: string | undefined;
  readonly isLooping: boolean;
}

/**
 * What leads to a run, the run, and what it writes: the unit that is kept and forgotten as a whole. It is the tally of the
 * run as well, so that the current one is found by the async context of a request.
 */
export class Cycle implements RequestTally {
  requests = 0;
  readonly timeline: Timeline;
  /** Counts up through all keys. */
  readonly sequence: number;
  readonly events: RecordedEvent[] = [];
  /** Events beyond those that are kept. */
  eventsOmitted = 0;
  reasons: readonly string[] = [];
  /** When it was queued first, ms since 1970. */
  readonly queuedAt: number;
  /** When the run began, ms since 1970; 0 before that. */
  startedAt = 0;
  /** The same by the monotonic clock. */
  startedMonotonic = 0;
  attempt = 0;
  /** While it runs. */
  context: Pick<ReconcileContext, 'reconcileId'> | undefined;
  end: RecordedEnd | undefined;
  readonly writes: RecordedWrite[] = [];
  writesOmitted = 0;
  /** What it counts against the budget. */
  bytes = 0;
  /** The neighbours in the order of all cycles; the store's business. */
  older: Cycle | undefined;
  newer: Cycle | undefined;
  isForgotten = false;

  constructor(timeline: Timeline, sequence: number, queuedAt: number) {
    this.timeline = timeline;
    this.sequence = sequence;
    this.queuedAt = queuedAt;
  }
}

/** The recorded history of one key of one controller. */
export class Timeline {
  readonly controller: string;
  /** As it is shown: names of Secrets are hidden. */
  readonly key: string;
  /** Oldest first. */
  readonly cycles: Cycle[] = [];
  /** Collects what is queued for the next run. */
  pending: Cycle | undefined;
  /** The run that goes on. */
  active: Cycle | undefined;
  /** Runs since the key is known, forgotten ones included. */
  runs = 0;
  failures = 0;
  /** Failures and back-offs in a row. */
  failuresInRow = 0;
  failingSince: number | undefined;
  /** ms since 1970 at which a delayed run is due; undefined where none is. */
  dueAt: number | undefined;
  lastResult = '';
  lastMs = 0;
  lastAt = 0;
  lastFailure: string | undefined;
  /** When the hot-loop detector found it last, ms since 1970. */
  loopingAt: number | undefined;

  constructor(controller: string, key: string) {
    this.controller = controller;
    this.key = key;
  }
}
