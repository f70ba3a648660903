import { isAlreadyExists, isConflict, isNotFound } from '@kctl/apimachinery';
import { LeaseCandidate } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1beta1';
import type { Reader, Writer } from '@kctl/client';
import { type Logger } from '@kctl/telemetry';
import { guardSinks } from '@kctl/telemetry/internal';
import { clockOption, numberOption, requireOptions } from '@kctl/options';
import { type Clock, isAbortError, sleep, systemClock, systemRandom } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import { createStamps } from './record-times.js';
import { withTimeout } from './request-timeout.js';
import type { OptionNames } from '@kctl/options';

/** Options of {@link runLeaseCandidate}. */
export interface LeaseCandidateOptions {
  /** Reads and writes LeaseCandidates, uncached. */
  readonly client: Pick<Reader, 'get'> & Pick<Writer, 'create' | 'update'>;
  readonly namespace: string;
  /**
   * Name of the LeaseCandidate, and the identity that the server writes into the Lease. The elector's lock must have
   * the same.
   */
  readonly identity: string;
  /** The Lease to be chosen for. */
  readonly leaseName: string;
  /** Semantic version of this program, e.g. `1.4.0`. */
  readonly binaryVersion: string;
  /** The version it behaves like; not above `binaryVersion`. @default binaryVersion */
  readonly emulationVersion?: string;
  /** How the server chooses. @default 'OldestEmulationVersion' */
  readonly strategy?: string;
  /** Time between checks of the candidate, in ms. The server waits 5 s for the answer to a ping. @default 1000 */
  readonly pollMs?: number;
  /** Time between renewals without a ping, in ms. @default 300000 */
  readonly renewIntervalMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

const optionNames: OptionNames<LeaseCandidateOptions> = {
  client: true,
  namespace: true,
  identity: true,
  leaseName: true,
  binaryVersion: true,
  emulationVersion: true,
  strategy: true,
  pollMs: numberOption({ above: 0 }),
  renewIntervalMs: true,
  clock: clockOption,
  logger: true,
};

/** How long one request may take, in ms. */
const requestTimeoutMs = 5_000;

/**
 * Announces this process as a candidate of a coordinated election until `signal` is aborted. It creates its
 * LeaseCandidate, even after a deletion, and renews it each five minutes and whenever the server pings it. Failures are
 * logged and tried again. Run it beside an elector with `coordinated: true`. Mirrors client-go's
 * `leaderelection.NewCandidate`.
 *
 * @throws TypeError when a field is empty or missing, or `pollMs` not a number > 0
 */
export async function runLeaseCandidate(options: LeaseCandidateOptions, signal: AbortSignal): Promise<void> {
  requireOptions('runLeaseCandidate', options, optionNames);
  for (const field of ['namespace', 'identity', 'leaseName', 'binaryVersion'] as const) {
    const given: unknown = options[field];
    if (typeof given !== 'string' || given === '') throw new TypeError(`runLeaseCandidate: ${field} must not be empty`);
  }
  const { clock = systemClock, pollMs = 1_000, identity } = options;
  const { logger } = guardSinks(options);
  const announcer = createAnnouncer(options, clock);
  while (!signal.aborted) {
    try {
      await withTimeout({ clock, signal, timeoutMs: requestTimeoutMs }, (request) => announcer(request));
    } catch (error) {
      if (!(signal.aborted && isAbortError(error)))
        logger.warn('failed to announce the lease candidate', { leaseCandidate: identity, error });
    }
    try {
      await sleep(pollMs, { clock, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** One look, and a renewal if it is due. */
function createAnnouncer(options: LeaseCandidateOptions, clock: Clock): (signal: AbortSignal) => Promise<void> {
  const { client, namespace, identity, leaseName, binaryVersion, renewIntervalMs = 300_000 } = options;
  const { emulationVersion = binaryVersion, strategy = 'OldestEmulationVersion' } = options;
  const stamp = createStamps(() => clock.now(), systemRandom());
  const spec = (notBefore = ''): NonNullable<LeaseCandidate['spec']> => ({
    leaseName,
    renewTime: laterOf(stamp(), notBefore),
    binaryVersion,
    emulationVersion,
    strategy,
  });
  let renewedAt: number | undefined;
  return async (signal) => {
    try {
      const found = await client.get(LeaseCandidate, { namespace, name: identity }, { live: true, signal });
      throwIfAborted(signal);
      const { pingTime, renewTime } = found.spec ?? {};
      const isPinged = (pingTime ?? '') > (renewTime ?? '');
      const isDue = renewedAt === undefined || clock.monotonicNow() - renewedAt >= renewIntervalMs;
      if (!isPinged && !isDue) return;
      const sentAt = clock.monotonicNow();
      const own = structuredClone(found) as LeaseCandidate;
      // The answer must not be older than the ping, even if our wall clock is behind the server's.
      await client.update(LeaseCandidate, { ...own, spec: { ...own.spec, ...spec(pingTime) } }, { signal });
      renewedAt = sentAt;
    } catch (error) {
      if (isConflict(error)) return;
      if (!isNotFound(error)) throw error;
      const sentAt = clock.monotonicNow();
      try {
        await client.create(LeaseCandidate, { metadata: { namespace, name: identity }, spec: spec() }, { signal });
        renewedAt = sentAt;
      } catch (failure) {
        if (!isAlreadyExists(failure)) throw failure;
      }
    }
  };
}

/** MicroTimes have a fixed width, so their string form sorts as they do. */
function laterOf(a: string, b: string): string {
  return a > b ? a : b;
}
