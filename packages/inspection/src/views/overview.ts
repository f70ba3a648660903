import type { LoopLag } from '../loop-lag.js';
import { longRunMs } from './advice.js';
import { informersView, isHealthy } from './informers.js';
import { stateOf } from './keys.js';
import { rightsView } from './rights.js';
import type { InspectedState } from './state.js';

/** Something that is wrong, worst first. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly text: string;
  /** The view that shows more of it. */
  readonly view: 'keys' | 'informers' | 'rights' | 'overview';
  readonly controller?: string;
}

/** One controller in the overview. */
export interface ControllerRow {
  readonly name: string;
  readonly phase: string;
  /** Requests that wait. */
  readonly queueLength: number;
  /** How long the oldest recorded one has waited, in ms. */
  readonly oldestWaitMs: number | undefined;
  readonly workers: number;
  readonly running: number;
  /** The run that has gone on for longest, in ms. */
  readonly longestRunMs: number | undefined;
  readonly longestRunKey: string | undefined;
  /** Keys that are recorded. */
  readonly keys: number;
  readonly failing: number;
  readonly looping: number;
  /** Runs of the keys that are recorded. */
  readonly runs: number;
  readonly failures: number;
  /** Mean duration of the runs that are recorded and have ended, in ms. */
  readonly meanMs: number | undefined;
  /** Mean number of requests that such a run sent. */
  readonly meanRequests: number | undefined;
}

/** Content of the first view. */
export interface OverviewView {
  /** ms since 1970. */
  readonly at: number;
  readonly recordingForMs: number;
  readonly problems: readonly Problem[];
  readonly isLeader: boolean;
  readonly leaseAgeMs: number | undefined;
  readonly isPaused: boolean;
  readonly controllers: readonly ControllerRow[];
  readonly informers: {
    readonly total: number;
    readonly healthy: number;
    readonly objects: number;
    readonly bytes: number;
  };
  readonly eventLoop: LoopLag | undefined;
  readonly memory: { readonly heapUsedBytes: number; readonly rssBytes: number };
  readonly recorder: {
    readonly bytes: number;
    readonly budgetBytes: number;
    readonly runs: number;
    /** Runs that have been forgotten to keep to the budget. */
    readonly forgotten: number;
  };
}

/** A queue whose oldest request has waited this long is named, in ms. */
const longWaitMs = 30_000;
/** An event loop that is this late is named, in ms. */
const longLagMs = 200;
/** A lease that was not renewed for this long is reported, in ms. The default renews each 2 s. */
const staleLeaseMs = 8_000;

/** How everything is, what is wrong first. */
export function overviewView(state: InspectedState): OverviewView {
  const { manager, clock, store, loopLag } = state;
  const controllers = controllerRows(state);
  const informers = informersView(state);
  const lag = loopLag?.read();
  const { heapUsed, rss } = process.memoryUsage();
  const sum = (field: 'objects' | 'bytes'): number => informers.reduce((all, each) => all + (each[field] ?? 0), 0);
  const leaseAgeMs = manager?.leaseAgeMs;
  return {
    at: clock.now(),
    recordingForMs: clock.monotonicNow() - state.startedAt,
    problems: problemsOf(state, { controllers, informers, lag, leaseAgeMs }),
    isLeader: manager?.isLeader ?? false,
    leaseAgeMs,
    isPaused: manager?.isPaused ?? false,
    controllers,
    informers: {
      total: informers.length,
      healthy: informers.filter((each) => isHealthy(each)).length,
      objects: sum('objects'),
      bytes: sum('bytes'),
    },
    eventLoop: lag,
    memory: { heapUsedBytes: heapUsed, rssBytes: rss },
    recorder: {
      bytes: store.bytes,
      budgetBytes: state.budgetBytes,
      runs: store.cycles,
      forgotten: store.forgotten,
    },
  };
}

function controllerRows({ manager, store, recorder, clock }: InspectedState): ControllerRow[] {
  const now = clock.now();
  const rows = (manager?.controllers() ?? []).map((controller): ControllerRow => {
    const found = { keys: 0, failing: 0, looping: 0, runs: 0, failures: 0 };
    const ended = { runs: 0, ms: 0, requests: 0 };
    let oldest: number | undefined;
    for (const timeline of store.timelines(controller.name)) {
      const { pending, active, dueAt } = timeline;
      const does = stateOf(timeline, now);
      found.keys++;
      found.runs += timeline.runs;
      found.failures += timeline.failures;
      for (const { end, requests } of timeline.cycles) {
        if (end === undefined) continue;
        ended.runs++;
        ended.ms += end.ms;
        ended.requests += requests;
      }
      if (does === 'failing') found.failing++;
      if (does === 'looping') found.looping++;
      const waits = pending !== undefined && active === undefined && dueAt === undefined;
      if (waits && (oldest === undefined || pending.queuedAt < oldest)) oldest = pending.queuedAt;
    }
    let longest: { readonly startedMonotonic: number; readonly timeline: { readonly key: string } } | undefined;
    for (const cycle of recorder.active)
      if (cycle.timeline.controller === controller.name)
        if (longest === undefined || cycle.startedMonotonic < longest.startedMonotonic) longest = cycle;
    return {
      name: controller.name,
      phase: controller.phase,
      queueLength: controller.queueLength,
      oldestWaitMs: oldest === undefined ? undefined : now - oldest,
      workers: controller.maxConcurrentReconciles,
      running: controller.inFlight.length,
      longestRunMs: longest === undefined ? undefined : clock.monotonicNow() - longest.startedMonotonic,
      longestRunKey: longest?.timeline.key,
      ...found,
      meanMs: ended.runs === 0 ? undefined : ended.ms / ended.runs,
      meanRequests: ended.runs === 0 ? undefined : ended.requests / ended.runs,
    };
  });
  const badness = ({ failing, looping }: ControllerRow): number => failing + looping;
  return rows.sort((left, right) => badness(right) - badness(left));
}

interface Figures {
  readonly controllers: readonly ControllerRow[];
  readonly informers: ReturnType<typeof informersView>;
  readonly lag: LoopLag | undefined;
  readonly leaseAgeMs: number | undefined;
}

function problemsOf(state: InspectedState, { controllers, informers, lag, leaseAgeMs }: Figures): Problem[] {
  const problems: Problem[] = [];
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  for (const each of informers.filter((row) => !isHealthy(row)))
    problems.push({
      severity: 'error',
      view: 'informers',
      text: `informer ${each.kind} is ${each.phase}${each.phaseForMs === undefined ? '' : ` for ${seconds(each.phaseForMs)}`}${each.trouble === undefined ? '' : `: ${each.trouble}`}`,
    });
  for (const { name, failing, looping, longestRunMs, longestRunKey, oldestWaitMs, queueLength } of controllers) {
    const add = (severity: Problem['severity'], text: string): void =>
      void problems.push({ severity, view: 'keys', controller: name, text: `controller ${name}: ${text}` });
    if (failing > 0) add('error', count(failing, 'key fails', 'keys fail'));
    if (looping > 0) add('error', `${count(looping, 'key is', 'keys are')} reconciled in a loop`);
    if (longestRunMs !== undefined && longestRunMs > longRunMs)
      add('error', `the run of ${longestRunKey ?? ''} has gone on for ${seconds(longestRunMs)}`);
    if (oldestWaitMs !== undefined && oldestWaitMs > longWaitMs)
      add(
        'warning',
        `${count(queueLength, 'request waits', 'requests wait')}, the oldest for ${seconds(oldestWaitMs)}`,
      );
  }
  const { rows, failure } = rightsView(state);
  if (failure !== undefined) problems.push({ severity: 'error', view: 'rights', text: failure });
  for (const { state: right, verb, resource, group, refused, note } of rows)
    if (right === 'missing' && refused > 0)
      problems.push({
        severity: 'error',
        view: 'rights',
        text: `${verb} ${group === '' ? resource : `${resource}.${group}`} is forbidden: ${note}`,
      });
  if (leaseAgeMs !== undefined && leaseAgeMs > staleLeaseMs)
    problems.push({
      severity: 'error',
      view: 'overview',
      text: `the lease was not renewed for ${seconds(leaseAgeMs)}`,
    });
  if (lag !== undefined && lag.maxMs > longLagMs)
    problems.push({
      severity: 'warning',
      view: 'overview',
      text: `the event loop was held for ${Math.round(lag.maxMs)} ms: what computes for so long delays leases and watches`,
    });
  if (state.manager?.isPaused === true)
    problems.push({ severity: 'warning', view: 'overview', text: 'the manager is paused: no further work is started' });
  return problems.sort((left, right) => Number(left.severity !== 'error') - Number(right.severity !== 'error'));
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
