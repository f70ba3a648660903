import { textOption, type OptionNames } from '@kctl/options';
import type { Cycle, RecordedEvent, RecordedWrite, Timeline } from '../recording/cycle.js';
import type { KeyRow } from './keys.js';
import { keyRow } from './keys.js';
import type { InspectedState } from './state.js';

/** A run of a key, as others name it. */
export interface RunReference {
  readonly controller: string;
  readonly key: string;
  readonly sequence: number;
}

/** An event, and the run whose write caused it. */
export interface EventView extends RecordedEvent {
  readonly causedBy: RunReference | undefined;
}

/** A write, and the runs that its event led to. */
export interface WriteView extends RecordedWrite {
  readonly caused: readonly RunReference[];
}

/** From the events to the writes of one run. */
export interface CycleView extends RunReference {
  /** ms since 1970. */
  readonly queuedAt: number;
  readonly events: readonly EventView[];
  readonly eventsOmitted: number;
  readonly reasons: readonly string[];
  /** Undefined while it waits. */
  readonly run:
    | {
        readonly startedAt: number;
        readonly attempt: number;
        readonly requests: number;
        /** `running` until it ends. */
        readonly result: string;
        readonly ms: number;
        readonly failure: string | undefined;
        readonly nextMs: number | undefined;
        readonly reconcileId: string | undefined;
        readonly isLooping: boolean;
      }
    | undefined;
  readonly writes: readonly WriteView[];
  readonly writesOmitted: number;
}

/** The history of an object. */
export interface TimelineView {
  readonly keys: readonly KeyRow[];
  /** Newest first. */
  readonly cycles: readonly CycleView[];
  /** Runs of other keys that wrote the object, newest first. */
  readonly writtenBy: readonly CycleView[];
}

/** Query of {@link timelineView}. */
export interface TimelineQuery {
  /** Namespace and name. */
  readonly key: string;
  /** @default every controller that has the key */
  readonly controller?: string | undefined;
  /** `Deployment` or `Deployment.apps`: the controllers whose runs were led to by this object itself. @default any */
  readonly kind?: string | undefined;
}

/** Names and checks of {@link TimelineQuery}. */
export const timelineQueryNames: OptionNames<TimelineQuery> = {
  key: textOption,
  controller: textOption,
  kind: textOption,
};

/** Cycles that are shown at most. */
const maxCycles = 100;
/** An event of a deletion is that of a delete request that was answered at most this long before, in ms. */
const deletionMs = 60_000;

/**
 * The events that led to the runs of a key, the writes of these runs, and their consequences. O(everything that is
 * recorded).
 */
export function timelineView(state: InspectedState, { key, controller, kind }: TimelineQuery): TimelineView {
  const own: Timeline[] = [];
  for (const timeline of state.store.timelines(controller))
    if (timeline.key === key && (kind === undefined || concerns(timeline, kind))) own.push(timeline);
  const cycles = own
    .flatMap((timeline) => timeline.cycles)
    .sort((left, right) => right.sequence - left.sequence)
    .slice(0, maxCycles);
  const owned = new Set(own);
  const writers: Cycle[] = [];
  for (const cycle of state.store.newestFirst()) {
    if (writers.length >= maxCycles) break;
    if (owned.has(cycle.timeline)) continue;
    if (cycle.writes.some((write) => write.object === key && (kind === undefined || isKind(write.kind, kind))))
      writers.push(cycle);
  }
  const links = linksOf(state, [...cycles, ...writers]);
  const view = (cycle: Cycle): CycleView => cycleView(cycle, links, state);
  return {
    keys: own.map((timeline) => keyRow(timeline, state)),
    cycles: cycles.map(view),
    writtenBy: writers.map(view),
  };
}

/**
 * Reports whether a timeline is that of an object of the kind, because events of that object have led to it, or no
 * event is left to decide.
 */
function concerns({ cycles, key, controller }: Timeline, kind: string): boolean {
  let hasEvents = false;
  for (const { events } of cycles)
    for (const { source, object } of events) {
      if (object !== key) continue;
      hasEvents = true;
      if (isKind(kindOf(source), kind)) return true;
    }
  return !hasEvents && controller.toLowerCase() === kind.split('.')[0]?.toLowerCase();
}

/** `Deployment.apps` of `kind source: Deployment.apps (metadata)`. */
export function kindOf(source: string): string {
  return /^kind source: (\S+)/.exec(source)?.[1] ?? '';
}

function isKind(groupKind: string, wanted: string): boolean {
  const found = groupKind.toLowerCase();
  const asked = wanted.toLowerCase();
  return found === asked || found.split('.')[0] === asked;
}

interface Links {
  /** By what {@link writeId} and {@link eventId} agree on. */
  readonly writers: ReadonlyMap<string, Cycle>;
  readonly woken: ReadonlyMap<string, readonly Cycle[]>;
}

/**
 * One pass over everything, to find the writers of the versions that led to these cycles, and the consequences of their
 * versions.
 */
function linksOf({ store }: InspectedState, cycles: readonly Cycle[]): Links {
  const eventIds = new Set(cycles.flatMap(({ events }) => events.map(eventId)));
  const writeIds = new Set(cycles.flatMap(({ writes }) => writes.map(writeId)));
  const writers = new Map<string, Cycle>();
  const woken = new Map<string, Cycle[]>();
  if (eventIds.size + writeIds.size === 0) return { writers, woken };
  for (const cycle of store.newestFirst()) {
    // The oldest wins, because an apply that changes nothing returns the existing version.
    for (const write of cycle.writes) {
      const id = writeId(write);
      if (id !== '' && eventIds.has(id)) writers.set(id, cycle);
    }
    for (const event of cycle.events) {
      const id = eventId(event);
      if (id === '' || !writeIds.has(id)) continue;
      const others = woken.get(id);
      if (others === undefined) woken.set(id, [cycle]);
      else if (others.length < 20) others.push(cycle);
    }
  }
  return { writers, woken };
}

/** A version is made by one write, because the API server numbers all writes of a store. */
function writeId({ object, resourceVersion, verb, kind, failure }: RecordedWrite): string {
  if (failure !== undefined) return '';
  if (verb === 'delete') return `${kind} ${object} deleted`;
  return resourceVersion === '' ? '' : `${object}@${resourceVersion}`;
}

function eventId({ object, resourceVersion, type, source }: RecordedEvent): string {
  if (type === 'delete') return `${kindOf(source)} ${object} deleted`;
  return resourceVersion === '' || object === '' ? '' : `${object}@${resourceVersion}`;
}

function cycleView(cycle: Cycle, { writers, woken }: Links, { clock }: InspectedState): CycleView {
  const { end, startedAt } = cycle;
  const run =
    startedAt === 0
      ? undefined
      : {
          startedAt,
          attempt: cycle.attempt,
          requests: cycle.requests,
          result: end?.result ?? 'running',
          ms: end?.ms ?? clock.monotonicNow() - cycle.startedMonotonic,
          failure: end?.failure,
          nextMs: end?.nextMs,
          reconcileId: end?.reconcileId,
          isLooping: end?.isLooping ?? false,
        };
  return {
    ...referenceTo(cycle),
    queuedAt: cycle.queuedAt,
    events: cycle.events.map((event) => {
      const id = eventId(event);
      const writer = id === '' ? undefined : writers.get(id);
      const isOurs = writer !== undefined && (event.type !== 'delete' || isNear(writer, event));
      return { ...event, causedBy: isOurs ? referenceTo(writer) : undefined };
    }),
    eventsOmitted: cycle.eventsOmitted,
    reasons: cycle.reasons,
    run,
    writes: cycle.writes.map((write) => {
      const id = writeId(write);
      return { ...write, caused: id === '' ? [] : (woken.get(id) ?? []).map(referenceTo) };
    }),
    writesOmitted: cycle.writesOmitted,
  };
}

function isNear({ writes }: Cycle, event: RecordedEvent): boolean {
  return writes.some(
    ({ verb, object, at }) => verb === 'delete' && object === event.object && Math.abs(event.at - at) < deletionMs,
  );
}

function referenceTo({ timeline: { controller, key }, sequence }: Cycle): RunReference {
  return { controller, key, sequence };
}
