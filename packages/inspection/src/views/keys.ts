import { numberOption, textOption, type OptionNames } from '@kctl/options';
import type { Timeline } from '../recording/cycle.js';
import { advise } from './advice.js';
import type { InspectedState } from './state.js';

/** Query of {@link keysView}. */
export interface KeysQuery {
  /** @default all */
  readonly controller?: string | undefined;
  /** @default 'all' */
  readonly state?: KeyState | undefined;
  /** A part of the key. @default any */
  readonly search?: string | undefined;
  /** @default 'state': what is wrong first */
  readonly sort?: KeySort | undefined;
  /** @default 0 */
  readonly offset?: number | undefined;
  /** At most 500. @default 100 */
  readonly limit?: number | undefined;
}

/** Names and checks of {@link KeysQuery}. */
export const keysQueryNames: OptionNames<KeysQuery> = {
  controller: textOption,
  state: true,
  search: textOption,
  sort: true,
  offset: numberOption(),
  limit: numberOption(),
};

export const keyStates = ['failing', 'looping', 'running', 'waiting', 'delayed', 'idle'] as const;
/** The state of a key, which is the first of these that applies. */
export type KeyState = (typeof keyStates)[number];
export const keySorts = ['state', 'key', 'attempts', 'next', 'running', 'runs', 'last'] as const;
/** Sort orders of keys. */
export type KeySort = (typeof keySorts)[number];

/** A key in the table. Times are in ms, from now. */
export interface KeyRow {
  readonly controller: string;
  readonly key: string;
  readonly state: KeyState;
  /** Failures and back-offs in a row. */
  readonly attempts: number;
  readonly failingForMs: number | undefined;
  /** When it runs again unless an event comes first. */
  readonly nextInMs: number | undefined;
  readonly runningForMs: number | undefined;
  readonly waitingForMs: number | undefined;
  readonly runs: number;
  readonly failures: number;
  readonly lastResult: string;
  readonly lastMs: number;
  readonly lastAgoMs: number | undefined;
  readonly lastFailure: string | undefined;
  /** The remedy; undefined if nothing is to be done. */
  readonly advice: string | undefined;
}

/** A page of the table. */
export interface KeysView {
  readonly total: number;
  readonly offset: number;
  readonly rows: readonly KeyRow[];
  /** The number of keys in each state, for any query. */
  readonly counts: Readonly<Record<KeyState, number>>;
}

const maxLimit = 500;
/** After this long a loop that was not seen again is over, in ms. */
const loopMs = 120_000;

/** Keys by what they do. O(keys that are recorded). */
export function keysView(state: InspectedState, query: KeysQuery = {}): KeysView {
  const { controller, state: wanted, search = '', sort = 'state', offset = 0, limit = 100 } = query;
  const now = state.clock.now();
  const counts: Record<KeyState, number> = { failing: 0, looping: 0, running: 0, waiting: 0, delayed: 0, idle: 0 };
  const found: Timeline[] = [];
  for (const timeline of state.store.timelines(controller)) {
    const does = stateOf(timeline, now);
    counts[does]++;
    if (wanted !== undefined && wanted !== does) continue;
    if (search !== '' && !timeline.key.includes(search)) continue;
    found.push(timeline);
  }
  const compare = comparators[sort];
  found.sort((left, right) => compare(left, right, now) || (left.key < right.key ? -1 : 1));
  const rows = found.slice(offset, offset + Math.min(limit, maxLimit)).map((each) => keyRow(each, state));
  return { total: found.length, offset, rows, counts };
}

/** One key as a row. */
export function keyRow(timeline: Timeline, { clock }: Pick<InspectedState, 'clock'>): KeyRow {
  const now = clock.now();
  const { controller, key, pending, active, dueAt, failingSince, lastAt } = timeline;
  const state = stateOf(timeline, now);
  return {
    controller,
    key,
    state,
    attempts: timeline.failuresInRow,
    failingForMs: failingSince === undefined ? undefined : now - failingSince,
    nextInMs: dueAt === undefined ? undefined : Math.max(0, dueAt - now),
    runningForMs: active === undefined ? undefined : clock.monotonicNow() - active.startedMonotonic,
    waitingForMs: pending === undefined ? undefined : now - pending.queuedAt,
    runs: timeline.runs,
    failures: timeline.failures,
    lastResult: timeline.lastResult,
    lastMs: timeline.lastMs,
    lastAgoMs: lastAt === 0 ? undefined : now - lastAt,
    lastFailure: timeline.lastFailure,
    advice: advise(timeline, { state, now }),
  };
}

export function stateOf(timeline: Timeline, now: number): KeyState {
  const { failuresInRow, loopingAt, active, pending, dueAt } = timeline;
  if (failuresInRow > 0) return 'failing';
  if (loopingAt !== undefined && now - loopingAt < loopMs) return 'looping';
  if (active !== undefined) return 'running';
  if (dueAt !== undefined) return 'delayed';
  return pending === undefined ? 'idle' : 'waiting';
}

type Compare = (left: Timeline, right: Timeline, now: number) => number;

const comparators: Readonly<Record<KeySort, Compare>> = {
  state: (left, right, now) =>
    keyStates.indexOf(stateOf(left, now)) - keyStates.indexOf(stateOf(right, now)) ||
    right.failuresInRow - left.failuresInRow ||
    right.lastAt - left.lastAt,
  key: () => 0,
  attempts: (left, right) => right.failuresInRow - left.failuresInRow,
  next: (left, right) => (left.dueAt ?? Infinity) - (right.dueAt ?? Infinity) || 0,
  running: (left, right) => (left.active?.startedAt ?? Infinity) - (right.active?.startedAt ?? Infinity) || 0,
  runs: (left, right) => right.runs - left.runs,
  last: (left, right) => right.lastAt - left.lastAt,
};
