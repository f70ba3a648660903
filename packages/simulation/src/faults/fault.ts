import { shownType } from '@kctl/options';
import { seededRandom } from '../random.js';

/** Name of a fault. */
export type FaultName =
  | 'cut-before'
  | 'cut-after'
  | 'delay'
  | 'half-open'
  | 'truncated'
  | 'conflict'
  | 'gone'
  | 'throttled'
  | 'server-error'
  | 'unavailable'
  | 'watch-dropped'
  | 'watch-hangs'
  | 'watch-flaps'
  | 'bookmarks-missing'
  | 'bookmarks-late'
  | 'stale-list'
  | 'compaction'
  | 'partition'
  | 'server-restart'
  | 'server-restart-cold'
  | 'crash'
  | 'crash-after-write'
  | 'restart'
  | 'stall'
  | 'clock-jump'
  | 'lease-edit'
  | 'crd-recreated'
  | 'namespace-deleted'
  | 'permission-revoked'
  | 'webhook-down'
  | 'other-edits'
  | 'other-deletes';

/** Faults, with their default rate per simulated hour. Together one fault every ten seconds or so. */
export const defaultFaultRates: Readonly<Record<FaultName, number>> = {
  /** The connection breaks before the server has a request. */
  'cut-before': 30,
  /** The connection breaks after the server executed a request. */
  'cut-after': 30,
  /** A request and its answer are slow, and are overtaken by those of other connections. */
  delay: 30,
  /** A request, or its answer, vanishes without an error. */
  'half-open': 15,
  /** An answer or a watch event breaks off in the middle. */
  truncated: 15,
  /** 409 Conflict. */
  conflict: 20,
  /** 410 Gone for a list or watch; now and then for each that names a version, for a while. */
  gone: 12,
  /** 429 with Retry-After. */
  throttled: 12,
  /** 500, before or after the request was executed. */
  'server-error': 15,
  /** 503. */
  unavailable: 12,
  /** A watch is ended. */
  'watch-dropped': 30,
  /** A watch stays open and silent. */
  'watch-hangs': 8,
  /** For a while, each watch of one kind is ended as soon as it is open. */
  'watch-flaps': 3,
  /** A watch gets no bookmarks. */
  'bookmarks-missing': 8,
  /** Bookmarks of a watch come late, that at the end of its initial events too. */
  'bookmarks-late': 8,
  /** A list that allows it is answered from the past. */
  'stale-list': 12,
  /** History is compacted, so old resourceVersions are expired. */
  compaction: 6,
  /** One replica cannot reach the server. */
  partition: 6,
  /** The server restarts with its history. */
  'server-restart': 3,
  /** The server restarts without its watch cache. */
  'server-restart-cold': 2,
  /** A replica dies at any moment, and is started again. */
  crash: 10,
  /** A replica dies right after a write was sent, or executed. */
  'crash-after-write': 20,
  /** A replica is stopped by its signal, as by a rollout, and started again once its run has ended. */
  restart: 6,
  /** The event loop of a replica stands still. */
  stall: 12,
  /** The wall clock of a replica jumps. */
  'clock-jump': 6,
  /** The holder of a Lease is edited by hand. */
  'lease-edit': 2,
  /** A CustomResourceDefinition is deleted and made again, and its objects with it. */
  'crd-recreated': 0.5,
  /** A namespace is deleted with everything in it, and made again. */
  'namespace-deleted': 0.5,
  /** A replica may not write, or not read, a resource for a while. */
  'permission-revoked': 3,
  /** The server reaches no webhook of the operator for a while. */
  'webhook-down': 3,
  /** Another client edits an object that is owned. */
  'other-edits': 15,
  /** Another client deletes an object that is owned. */
  'other-deletes': 10,
};

/** All names, in a fixed order. */
export const faultNames: readonly FaultName[] = Object.keys(defaultFaultRates) as FaultName[];

/** Rates of faults per simulated hour, by name. Faults that are not named do not happen. */
export type FaultRates = Readonly<Partial<Record<FaultName, number>>>;

/** A planned fault. Its chances decide the rest, such as its target and duration. */
export interface PlannedFault {
  /** ms since the world began. */
  readonly at: number;
  readonly fault: FaultName;
  /** Numbers in [0, 1). */
  readonly chances: readonly [number, number, number];
}

/** Draws the faults of a run, in order of time. Each kind is a separate Poisson process. */
export function planFaults(seed: number, rates: FaultRates, fromMs: number, untilMs: number): PlannedFault[] {
  const planned: PlannedFault[] = [];
  for (const fault of faultNames) {
    const rate = rates[fault] ?? 0;
    if (!(rate > 0)) continue;
    const random = seededRandom(seed, `fault ${fault}`);
    const meanMs = 3_600_000 / rate;
    for (let at = fromMs; ; ) {
      at += -Math.log(1 - random()) * meanMs;
      if (at >= untilMs) break;
      planned.push({ at: Math.round(at), fault, chances: [random(), random(), random()] });
    }
  }
  return planned.sort((a, b) => a.at - b.at);
}

/** The rates that an option means. @throws TypeError naming a fault or a rate that is not valid */
export function faultRatesOf(faults: 'all' | 'none' | FaultRates): FaultRates {
  if (faults === 'all') return defaultFaultRates;
  if (faults === 'none') return {};
  if (typeof faults !== 'object' || faults === null || Array.isArray(faults))
    throw new TypeError(
      `simulate: faults is ${typeof faults === 'string' ? JSON.stringify(faults) : shownType(faults)}: expected "all", "none" or rates per hour, such as { crash: 60 }`,
    );
  for (const [name, rate] of Object.entries(faults)) {
    if (!faultNames.includes(name as FaultName))
      throw new TypeError(`simulate: faults.${name} is not known: expected some of ${faultNames.join(', ')}`);
    if (!(typeof rate === 'number' && rate >= 0 && Number.isFinite(rate)))
      throw new TypeError(`simulate: faults.${name} ${String(rate)} is out of range: expected 0 or more per hour`);
  }
  return faults;
}
