import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { sleep, systemClock } from '@kctl/wait';
import { isHealthy, startProcess, type CandidateParts, type CandidateProcess, type Slot } from './candidate-process.js';
import { faultNames, inject, managerFaultNames, type FaultName } from './faults.js';
import { watchLag } from './lag.js';
import { readLog } from './log-reader.js';
import { explainLate, machineReport, pausesOf, starvedMs, type MachineReport } from './machine.js';
import { protectedName, sharedNow, type Durations, type LogEntry, type Program } from './protocol.js';
import { startProxy } from './proxy.js';
import { startServer } from './server.js';
import { watchWrites } from './watch-writes.js';
import { createReadiness } from './readiness.js';
import { findInterleaving, findOverlaps, spansOf, type Applied, type Violation } from './witness.js';

export interface HarnessOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly server: 'embedded' | 'real';
  readonly durations: Durations;
  readonly maxStallMs: number;
  readonly worker: boolean;
  /** What runs in the processes. @default 'elector' */
  readonly program?: Program;
  /** How long each process waits before it takes part, in ms. @default 0 */
  readonly startDelayMs?: number;
  /** @default all of them, in turn and at random */
  readonly faults?: readonly FaultName[];
  readonly log: (line: string) => void;
}

export interface HarnessReport {
  readonly rounds: number;
  readonly violations: readonly Violation[];
  /** Rounds in which nobody led in time. */
  readonly late: readonly string[];
  /** Rounds that were late by no more than the time for which the next leader's event loop got no processor. */
  readonly starved: readonly string[];
  /** From the fault to the first write of the next leader, in ms; without a release, and with one. */
  readonly failoversMs: readonly number[];
  readonly releasedMs: readonly number[];
  /** What they are judged by, in ms; the machine's share included. */
  readonly boundsMs: { readonly failover: number; readonly released: number };
  readonly terms: number;
  readonly writes: number;
  readonly byFault: Readonly<Record<string, number>>;
  readonly machine: MachineReport & { readonly witnessLagsMs: readonly number[] };
}

/** A release must hand over within this, in ms. */
const releasedWithinMs = 3_000;
/** For the machine: processes that run, a write that is sent, a witness that sees it. */
const slackMs = 500;
/** The grace period of every other manager; the others have none, in ms. */
const someGraceMs = 300;
const stuckMs = Number(process.env['STUCK_MS'] ?? 180_000);

/** Runs the rounds and judges them. */
export async function runHarness(options: HarnessOptions): Promise<HarnessReport> {
  const { durations, log } = options;
  const folder = await mkdtemp(join(tmpdir(), 'kctl-election-logs-'));
  await using server = await startServer(options.server);
  await using client = createHttpClient({ connection: server.connection });
  const stop = new AbortController();
  const applied: Applied[] = [];
  const pauses: { identity: string; at: number }[] = [];
  const processes: CandidateProcess[] = [];
  const slots: Slot[] = [];
  const random = seededRandom(options.seed);
  /** Lags of this process, which carries the requests of the candidates and observes their writes. */
  const witnessLags: LogEntry[] = [];
  using _lag = watchLag((entry) => witnessLags.push(entry));
  try {
    const { metadata } = await client.create(Namespace, { metadata: { generateName: 'election-' } });
    const namespace = metadata.name ?? '';
    await client.create(ConfigMap, { metadata: { namespace, name: protectedName } });
    void watchWrites(client, namespace, (write) => applied.push(write), stop.signal);
    const { worker, startDelayMs = 0, program = 'elector' } = options;
    const parts: CandidateParts = { server, namespace, folder, durations, worker, startDelayMs, program };
    let births = 0;
    const newProcess = (name: string, proxy: Slot['proxy']): CandidateProcess => {
      const graceMs = ++births % 2 === 0 ? 0 : someGraceMs;
      const process = startProcess({ identity: `${name}-${births}`, graceMs }, proxy, parts);
      processes.push(process);
      return process;
    };
    for (const name of ['a', 'b', 'c']) {
      const proxy = await startProxy(server);
      slots.push({ name, proxy, process: newProcess(name, proxy), busyUntil: 0 });
    }
    const current = (): Slot | undefined => {
      const last = applied.at(-1);
      if (last === undefined || sharedNow() - last.seenAt > 500) return undefined;
      return slots.find(({ process }) => process.identity === last.writer && process.isAlive);
    };
    const until = async <T>(what: string, look: () => T | undefined): Promise<T> => {
      const deadline = sharedNow() + stuckMs;
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        if (sharedNow() > deadline)
          throw new Error(
            `stuck: ${what}; last write seen: ${JSON.stringify(applied.at(-1))} at ${sharedNow()}; ${slots.map((slot) => `${slot.process.identity} ${slot.process.isAlive} ${slot.busyUntil}`).join(', ')}`,
          );
        await sleep(5);
      }
    };
    const isReady = createReadiness(durations);
    const boundsMs = {
      failover: durations.leaseDurationMs + durations.retryPeriodMs + slackMs,
      released: releasedWithinMs + slackMs,
    };
    const failoversMs: number[] = [];
    const releasedMs: number[] = [];
    const late: string[] = [];
    const starved: string[] = [];
    const byFault: Record<string, number> = {};
    const names = options.faults ?? (program === 'elector' ? faultNames : managerFaultNames);
    for (let round = 1; round <= options.rounds; round++) {
      for (const slot of slots) if (!slot.process.isAlive) slot.process = newProcess(slot.name, slot.proxy);
      const leader = await until('a leader and a healthy candidate', () => {
        const slot = current();
        if (slot === undefined || !isHealthy(slot)) return undefined;
        return slots.filter((other) => other !== slot && isReady(other, slot.process.identity)).length > 0
          ? slot
          : undefined;
      });
      const name = names[Math.floor(random() * names.length)] ?? 'kill';
      byFault[name] = (byFault[name] ?? 0) + 1;
      const before = leader.process.identity;
      const termBefore = applied.at(-1)?.term;
      const { newLeaderDueFrom, released, text } = await inject(name, {
        leader,
        server,
        leaseDurationMs: durations.leaseDurationMs,
        maxStallMs: options.maxStallMs,
        random,
        later: (ms, action) => void systemClock.setTimer(action, ms),
        onPause: (identity) => pauses.push({ identity, at: sharedNow() }),
      });
      if (newLeaderDueFrom === undefined) {
        log(`round ${round}: ${text}`);
        await sleep(random() * durations.leaseDurationMs);
        continue;
      }
      // After a crash of the server the old leader may go on; otherwise it must be another one, or a new term.
      const next = await until(`round ${round}: ${text}: nobody leads`, () =>
        applied.findLast(
          ({ writer, term, seenAt }) =>
            seenAt >= newLeaderDueFrom && (name === 'server crash' || writer !== before || term !== termBefore),
        ),
      );
      const first = applied.find(
        ({ writer, term, seenAt }) => writer === next.writer && term === next.term && seenAt >= newLeaderDueFrom,
      );
      const took = (first ?? next).seenAt - newLeaderDueFrom;
      (released ? releasedMs : failoversMs).push(took);
      // The worker goes on for a silent main thread for this long, on purpose.
      const patienceMs = options.worker && name === 'stall' ? durations.renewDeadlineMs : 0;
      const over = took - patienceMs - (released ? boundsMs.released : boundsMs.failover);
      if (over > 0) {
        const successor = processes.find(({ identity }) => identity === next.writer);
        const entries = successor === undefined ? [] : readLog(successor.logFile);
        const span = { from: newLeaderDueFrom, to: newLeaderDueFrom + took };
        const lagMs = starvedMs(entries, pausesOf(next.writer, pauses), span) + starvedMs(witnessLags, [], span);
        const line = `round ${round}: ${text}: ${Math.round(took)} ms, in ${Math.round(lagMs)} of which ${next.writer} or its proxy got no processor`;
        (over > lagMs ? late : starved).push(line);
        for (const detail of explainLate(processes, newLeaderDueFrom)) log(detail);
      }
      log(`round ${round}: ${text}: ${before} → ${next.writer} in ${Math.round(took)} ms`);
    }
    // Everybody wakes up once more: what passes the fence now would be the worst.
    await sleep(Math.max(0, ...slots.map(({ busyUntil }) => busyUntil - sharedNow())) + 500);
    for (const { process } of slots) process.send({ command: 'stop' });
    await Promise.race([Promise.all(slots.map(({ process }) => process.exited)), sleep(20_000)]);
    const logs = processes.map((process) => ({ process, entries: readLog(process.logFile) }));
    const spans = logs.flatMap(({ process, entries }) => spansOf(process.identity, entries, applied, pauses));
    return {
      rounds: options.rounds,
      violations: [...findOverlaps(spans), ...findInterleaving(applied)],
      late,
      starved,
      failoversMs,
      releasedMs,
      boundsMs,
      terms: spans.length,
      writes: spans.reduce((sum, { writes }) => sum + writes, 0),
      byFault,
      machine: {
        ...machineReport(logs, pauses),
        witnessLagsMs: witnessLags.flatMap((entry) => (entry.what === 'lagged' ? [entry.ms] : [])),
      },
    };
  } finally {
    stop.abort();
    for (const process of processes) if (process.isAlive) process.signal('SIGKILL');
    for (const { proxy } of slots) await proxy[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

/** mulberry32: the same seed, the same rounds. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
