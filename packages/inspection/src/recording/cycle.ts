import type { ReconcileContext } from '@kctl/controller';
import type { RequestTally } from '@kctl/telemetry';

/** An event that led to a request, with the name of its object and never its contents. */
export interface RecordedEvent {
  /** ms since 1970. */
  readonly at: number;
  /** The name of the source, e.g. `kind source: Pod`. */
  readonly source: string;
  readonly type: string;
  /** Namespace and name; hidden for Secrets. '' for what has none. */
  readonly object: string;
  /** '' if it is not known. */
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
  /** The version that the server answered; '' if it made no version, or the write has failed. */
  readonly resourceVersion: string;
  /** The reason of its failure; undefined if it did not fail. */
  readonly failure: string | undefined;
}

/** How a run ended. */
export interface RecordedEnd {
  readonly ms: number;
  readonly result: string;
  readonly failure: string | undefined;
  /** When the key was to run again, in ms from the end; undefined means not before the next event. */
  readonly nextMs: number | undefined;
  /** The `reconcileID` of the log lines; of failed runs alone. */
  readonly reconcileId: string | undefined;
  readonly isLooping: boolean;
}

/**
 * An event as it is stored. A number relative to the {@link Origin} fits into its field, one relative to 1970 takes an
 * object.
 */
export interface KeptEvent extends Omit<RecordedEvent, 'at'> {
  /** ms since the origin. */
  readonly atMs: number;
}

/** The origin of the recorder's times, in ms since 1970. */
export interface Origin {
  readonly at: number;
}

/** Details that few ends have. */
type EndDetails = Pick<RecordedEnd, 'failure' | 'nextMs' | 'reconcileId' | 'isLooping'>;

/** A list that takes no memory until it has something. */
const nothing: readonly never[] = [];

/**
 * The events that lead to a run, the run, and its writes, which are kept and forgotten as a whole. It is the tally of
 * the run as well, so that the current one is found by the async context of a request.
 */
export class Cycle implements RequestTally {
  requests = 0;
  readonly timeline: Timeline;
  /** Counts up through all keys. */
  readonly sequence: number;
  /** Most have one; the list is made with it, since V8 gives one that grows room for 17. */
  keptEvents: readonly KeptEvent[] = nothing;
  /** Events beyond those that are kept. */
  eventsOmitted = 0;
  reasons: readonly string[] = nothing;
  /** When it was queued first, in ms since the origin. */
  readonly queuedMs: number;
  /** When the run began, in ms since the origin; -1 before that. */
  startedMs = -1;
  /** The start of a current run, by the monotonic clock, in ms; the duration of a run that has ended. */
  monotonic = 0.5;
  attempt = 0;
  /** While it runs. */
  context: Pick<ReconcileContext, 'reconcileId'> | undefined;
  /** '' until it has ended. */
  result = '';
  details: EndDetails | undefined;
  writes: readonly RecordedWrite[] = nothing;
  writesOmitted = 0;
  /** Its share of the budget. */
  bytes = 0;
  /** The neighbours in the order of all cycles, and of those of the key; the store's business. */
  older: Cycle | undefined;
  newer: Cycle | undefined;
  olderOfKey: Cycle | undefined;
  newerOfKey: Cycle | undefined;
  isForgotten = false;

  /** `queuedMs`: since the origin of the timeline. */
  constructor(timeline: Timeline, sequence: number, queuedMs: number) {
    this.timeline = timeline;
    this.sequence = sequence;
    this.queuedMs = queuedMs;
  }

  /** When it was queued first, ms since 1970. */
  get queuedAt(): number {
    return this.timeline.origin.at + this.queuedMs;
  }

  /** When the run began, ms since 1970; 0 before that. */
  get startedAt(): number {
    return this.startedMs === -1 ? 0 : this.timeline.origin.at + this.startedMs;
  }

  /** The same by the monotonic clock; of a run that goes on. */
  get startedMonotonic(): number {
    return this.monotonic;
  }

  get events(): readonly RecordedEvent[] {
    const { at } = this.timeline.origin;
    return this.keptEvents.map(({ atMs, ...event }) => ({ ...event, at: at + atMs }));
  }

  get eventCount(): number {
    return this.keptEvents.length;
  }

  get end(): RecordedEnd | undefined {
    if (this.result === '') return undefined;
    return { ms: this.monotonic, result: this.result, ...(this.details ?? plainEnd) };
  }

  addEvent(event: KeptEvent): void {
    this.keptEvents = this.keptEvents.length === 0 ? [event] : [...this.keptEvents, event];
  }

  addWrite(write: RecordedWrite): void {
    this.writes = this.writes.length === 0 ? [write] : [...this.writes, write];
  }

  /** The run begins, `startedMs` since the origin, and by the monotonic clock. */
  start(startedMs: number, monotonic: number): void {
    this.startedMs = startedMs;
    this.monotonic = monotonic;
  }

  settle({ ms, result, failure, nextMs, reconcileId, isLooping }: RecordedEnd): void {
    this.monotonic = ms;
    this.result = result;
    if (failure !== undefined || nextMs !== undefined || isLooping)
      this.details = { failure, nextMs, reconcileId, isLooping };
  }
}

const plainEnd: EndDetails = { failure: undefined, nextMs: undefined, reconcileId: undefined, isLooping: false };

/** The recorded history of one key of one controller. */
export class Timeline {
  readonly controller: string;
  /** As it is shown, with names of Secrets hidden. */
  readonly key: string;
  readonly origin: Origin;
  /** Of its cycles; the store's business, as is their number. */
  oldest: Cycle | undefined;
  newest: Cycle | undefined;
  count = 0;
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
  /** ms since 1970 at which a delayed run is due; undefined if there is no delayed run. */
  dueAt: number | undefined;
  lastResult = '';
  lastMs = 0;
  lastAt = 0;
  lastFailure: string | undefined;
  /** When the hot-loop detector found it last, ms since 1970. */
  loopingAt: number | undefined;

  constructor(controller: string, key: string, origin: Origin) {
    this.controller = controller;
    this.key = key;
    this.origin = origin;
  }

  /** Oldest first. */
  get cycles(): readonly Cycle[] {
    const cycles: Cycle[] = [];
    for (let at = this.oldest; at !== undefined; at = at.newerOfKey) cycles.push(at);
    return cycles;
  }
}
