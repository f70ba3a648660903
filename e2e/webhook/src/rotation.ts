/** Certificate rotation under load: what `main.ts` runs for a minute and the test for half of one. */
import { eventually } from '@kctl/testing';
import { sleep, systemClock } from '@kctl/wait';
import { startLoad } from './load.js';
import { authoritiesIn, handshake } from './replica.js';
import { setUp } from './stage.js';

export interface RotationOptions {
  readonly server: 'embedded' | 'real';
  readonly seconds: number;
  /** Writes a second; each is reviewed twice. */
  readonly rate: number;
}

/** What a run came to. Times in ms. */
export interface RotationReport extends RotationOptions {
  /** Writes that were answered, per second of the run. */
  readonly writesPerSecond: number;
  /** Reviews that the replicas answered, per second: two for each write that is accepted. */
  readonly reviewsPerSecond: number;
  readonly slowestSecond: number;
  readonly denied: number;
  readonly failures: readonly string[];
  readonly wronglyAccepted: number;
  /** CPU time of the process of load and replicas per write, in ms. */
  readonly cpuPerWrite: number;
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
  /** Authorities that were trusted in the course of the run. */
  readonly authorities: number;
  /** Looks at which an old and a new one were trusted side by side. */
  readonly overlaps: number;
  /** Certificates that were served. */
  readonly certificates: number;
  /** Handshakes with the authorities of that moment, and with those of a second before. */
  readonly handshakes: number;
  readonly failedHandshakes: readonly string[];
  /** Writes of the Secret by both replicas, and how many states it had: the same, where no race was won twice. */
  readonly secretWrites: readonly string[];
}

/** Renewals come each 18 s of real time. */
const times = { authorityValidityMs: 27_000, servingValidityMs: 27_000, overlapMs: 3_000, checkIntervalMs: 500 };
const lookEveryMs = 500;
/** How far behind an API server may be: less than an overlap. */
const behindMs = 2_000;

export async function runRotation(options: RotationOptions): Promise<RotationReport> {
  await using stage = await setUp(options.server, times);
  const [authorities, certificates] = [new Set<string>(), new Set<string>()];
  const failedHandshakes: string[] = [];
  const seen: { readonly at: number; readonly bundle: string }[] = [];
  let handshakes = 0;
  let overlaps = 0;
  const look = async (): Promise<void> => {
    const bundles = await stage.bundles();
    for (const bundle of bundles) {
      const trusted = authoritiesIn(bundle);
      for (const one of trusted) authorities.add(one);
      if (trusted.length > 1) overlaps++;
    }
    const now = systemClock.monotonicNow();
    seen.push(...bundles.map((bundle) => ({ at: now, bundle })));
    while ((seen[0]?.at ?? now) < now - behindMs) seen.shift();
    for (const bundle of new Set(seen.map((one) => one.bundle))) {
      for (const { port } of stage.replicas) {
        handshakes++;
        await handshake(port, bundle).then(
          (certificate) => certificates.add(certificate),
          (error: unknown) => failedHandshakes.push(String(error)),
        );
      }
    }
  };
  const load = startLoad(stage.client, options.rate);
  const started = systemClock.monotonicNow();
  const cpu = process.cpuUsage();
  while (systemClock.monotonicNow() - started < options.seconds * 1000) {
    await look();
    await sleep(lookEveryMs);
  }
  const report = await load.stop();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (systemClock.monotonicNow() - started) / 1000;
  await eventually(() => stage.replicas.forEach((replica) => replica.check()));
  const reviews = stage.replicas.reduce((sum, { counts }) => sum + counts.defaulted + counts.validated, 0);
  const sorted = report.latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
  return {
    ...options,
    writesPerSecond: Math.round(report.answered / seconds),
    reviewsPerSecond: Math.round(reviews / seconds),
    slowestSecond: Math.min(...report.perSecond.slice(1, options.seconds - 1)),
    denied: report.denied,
    failures: report.failures.map(({ fromMs, what }) => `${fromMs} ms: ${what}`),
    wronglyAccepted: report.wronglyAccepted,
    cpuPerWrite: Math.round((user + system) / report.answered / 10) / 100,
    median: at(0.5),
    p99: at(0.99),
    longest: at(1),
    authorities: authorities.size,
    overlaps,
    certificates: certificates.size,
    handshakes,
    failedHandshakes,
    secretWrites: stage.replicas.flatMap(({ counts }) => counts.writes),
  };
}

/** What a run must not come to; empty where it is as it should be. */
export function violationsOf(report: RotationReport): string[] {
  const { authorities, secretWrites, rate, reviewsPerSecond } = report;
  const renewals = secretWrites.filter((reason) => reason.includes('a new one is trusted beside it')).length;
  const expected = Math.floor(report.seconds / 18);
  return [
    ...report.failures.map((failure) => `a write failed: ${failure}`),
    ...report.failedHandshakes.map((failure) => `a handshake failed: ${failure}`),
    ...(report.wronglyAccepted > 0 ? [`${report.wronglyAccepted} writes were accepted that have to be refused`] : []),
    ...(report.denied === 0 ? ['no write was refused'] : []),
    ...(authorities <= expected ? [`there were ${authorities} authorities, expected more than ${expected}`] : []),
    ...(report.certificates <= expected ? [`there were ${report.certificates} certificates`] : []),
    ...(report.overlaps === 0 ? ['an old and a new authority were never trusted side by side'] : []),
    // Of two replicas that find the same thing to do, one does it; the last one may not have been seen.
    ...(renewals - (authorities - 1) > 1 ? [`${renewals} renewals made ${authorities} authorities`] : []),
    ...(reviewsPerSecond < rate ? [`${reviewsPerSecond} reviews a second are fewer than ${rate}`] : []),
  ];
}
