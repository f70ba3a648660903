import type { CountedRequest } from './counting-proxy.js';
import type { ProbeName, ProbeReport } from './probes.js';
import type { ReplicaProcess } from './replica-process.js';

/** When what happened, by CLOCK_MONOTONIC in ms. */
export interface OutageTimes {
  readonly downAt: number;
  readonly upAt: number;
  readonly endAt: number;
}

/** What one replica went through. */
export interface ReplicaReport {
  readonly identity: string;
  readonly exit: string | undefined;
  readonly wasLeader: boolean;
  readonly isLeader: boolean;
  /** The longest pause of work that needs no leadership, in ms. */
  readonly longestPauseMs: number;
  readonly probes: Readonly<Record<ProbeName, ProbeReport>>;
  /** Connections that it tried during the outage, for each second of it. */
  readonly attemptsPerSecond: number;
  /** The most requests within one second after the return. */
  readonly busiestSecond: number;
  /** What it asked after the return, by verb. */
  readonly requestsAfter: Readonly<Record<string, number>>;
  readonly listsAfter: number;
}

/** What is measured, and what is wrong with it. */
export interface OutageReport {
  readonly leaderLostAfterMs: number | undefined;
  readonly leaderAgainAfterMs: number | undefined;
  readonly replicas: readonly ReplicaReport[];
  readonly violations: readonly string[];
}

/** What the bounds are. */
export interface OutageBounds {
  /** A leader gives up within this after the server has gone, in ms. */
  readonly lostWithinMs: number;
  /** There is one again within this after the server is back, in ms. */
  readonly againWithinMs: number;
  /** Work that needs no leadership pauses no longer, in ms: the machine's share. */
  readonly pauseMs: number;
  /** One for each informer: where the server has forgotten what was watched. */
  readonly listsOfEach: number;
  readonly requestsInOneSecond: number;
  readonly attemptsPerSecond: number;
}

/** A replica and what its proxy counted. */
export interface Observed {
  readonly replica: ReplicaProcess;
  readonly requests: readonly CountedRequest[];
  readonly probes: Readonly<Record<ProbeName, ProbeReport>>;
}

/** Judges an outage by what the replicas said, answered and asked. */
export function judge(observed: readonly Observed[], times: OutageTimes, bounds: OutageBounds): OutageReport {
  const { downAt, upAt } = times;
  const replicas = observed.map((each) => reportOf(each, times));
  const leading = observed.flatMap(({ replica }) => spansOf(replica));
  const last = Math.max(...leading.filter(({ from }) => from < upAt).map(({ to }) => to));
  const leaderLostAfterMs = Number.isFinite(last) && last < upAt ? Math.max(0, Math.round(last - downAt)) : undefined;
  const again = Math.min(...leading.filter(({ from }) => from >= upAt).map(({ from }) => from));
  const leaderAgainAfterMs = Number.isFinite(again) ? Math.round(again - upAt) : undefined;
  const violations: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) violations.push(what);
  };
  for (const { identity, exit, probes, ...report } of replicas) {
    must(exit === undefined, `${identity} has exited: ${exit ?? ''}`);
    for (const [name, { failures }] of Object.entries(probes))
      must(failures.length === 0, `${identity}: ${name} failed ${failures.length} times, first ${failures[0] ?? ''}`);
    must(report.longestPauseMs <= bounds.pauseMs, `${identity}: its work paused for ${report.longestPauseMs} ms`);
    must(report.listsAfter <= bounds.listsOfEach, `${identity} listed ${report.listsAfter} times after the return`);
    must(
      report.busiestSecond <= bounds.requestsInOneSecond,
      `${identity} sent ${report.busiestSecond} requests in one second after the return`,
    );
    must(
      report.attemptsPerSecond <= bounds.attemptsPerSecond,
      `${identity} tried to connect ${report.attemptsPerSecond} times a second`,
    );
  }
  for (const [index, one] of leading.entries())
    for (const other of leading.slice(index + 1))
      must(
        one.identity === other.identity || one.to < other.from || other.to < one.from,
        `${one.identity} and ${other.identity} led at the same time`,
      );
  must(leaderLostAfterMs !== undefined, 'a replica led through the whole outage, without a lease');
  must((leaderLostAfterMs ?? 0) <= bounds.lostWithinMs, `the leader gave up only after ${leaderLostAfterMs ?? 0} ms`);
  must(leaderAgainAfterMs !== undefined, 'no replica led after the return');
  must((leaderAgainAfterMs ?? 0) <= bounds.againWithinMs, `a leader came only after ${leaderAgainAfterMs ?? 0} ms`);
  must(replicas.filter(({ isLeader }) => isLeader).length === 1, 'there is not one leader at the end');
  return { leaderLostAfterMs, leaderAgainAfterMs, replicas, violations };
}

function reportOf({ replica, requests, probes }: Observed, { downAt, upAt, endAt }: OutageTimes): ReplicaReport {
  const { identity, exit, states } = replica;
  const during = states.filter(({ at }) => at >= downAt && at < endAt).map(({ at }) => at);
  const pauses = [downAt, ...during, endAt].map((at, index, all) => at - (all[index - 1] ?? at));
  const attempts = requests.filter(({ verb, at }) => verb === 'attempt' && at >= downAt && at < upAt).length;
  const after = requests.filter(({ verb, at }) => verb !== 'attempt' && at >= upAt && at < endAt);
  const requestsAfter: Record<string, number> = {};
  for (const { verb, resource } of after) {
    const what = `${verb} ${resource}`;
    requestsAfter[what] = (requestsAfter[what] ?? 0) + 1;
  }
  return {
    identity,
    exit,
    wasLeader: states.findLast(({ at }) => at < downAt)?.isLeader ?? false,
    isLeader: states.at(-1)?.isLeader ?? false,
    longestPauseMs: Math.round(Math.max(0, ...pauses)),
    probes,
    attemptsPerSecond: Math.round((attempts / ((upAt - downAt) / 1000)) * 100) / 100,
    busiestSecond: Math.max(
      0,
      ...after.map(({ at: begin }) => after.filter(({ at }) => at >= begin && at < begin + 1000).length),
    ),
    requestsAfter,
    listsAfter: after.filter(({ verb }) => verb === 'list').length,
  };
}

interface Span {
  readonly identity: string;
  readonly from: number;
  readonly to: number;
}

/** From the first to the last time that a replica said it leads, for each of its terms. */
function spansOf({ identity, states }: ReplicaProcess): Span[] {
  const spans: { identity: string; from: number; to: number }[] = [];
  let open: { identity: string; from: number; to: number } | undefined;
  for (const { at, isLeader } of states) {
    if (!isLeader) open = undefined;
    else if (open === undefined) spans.push((open = { identity, from: at, to: at }));
    else open.to = at;
  }
  return spans;
}
