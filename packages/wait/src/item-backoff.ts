import { numberProblem, clockOption, functionOption, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { Clock, Random } from './clock.js';
import { checkedRandom } from './checked-random.js';
import { systemClock, systemRandom } from './system-clock.js';

/** Options of {@link createItemBackoff}. */
export interface ItemBackoffOptions {
  /** The delay after the first failure of an id, in ms, > 0. */
  readonly initialMs: number;
  /** No delay exceeds this many ms. After twice as long without a failure an id starts over and is let go of. */
  readonly maxMs: number;
  /** Up to this share of the delay before is added at random. @default 0 */
  readonly jitter?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/**
 * Exponential back-off per id, such as for a container image that cannot be pulled or a remote that refuses. Instants
 * are those of `clock.monotonicNow()`, in ms. Mirrors `flowcontrol.Backoff`.
 */
export interface ItemBackoff {
  /** How many ids have a delay. */
  readonly size: number;
  /** The present delay of an id, in ms; 0 if it has none. */
  get(id: string): number;
  /** Notes a failure. @returns the delay that begins now, in ms, twice the one before */
  next(id: string): number;
  /** Resets an id that has succeeded. */
  reset(id: string): void;
  /** Whether the delay since the last failure of an id is not over. */
  isInBackoff(id: string): boolean;
  /** Whether the delay of an id, counted from an instant, is not over. */
  isInBackoffSince(id: string, instantMs: number): boolean;
  /** Lets go of all ids without a failure for twice `maxMs`. `next` does so as well, now and then. */
  gc(): void;
}

interface Entry {
  delayMs: number;
  failedAt: number;
}

const optionNames: OptionNames<ItemBackoffOptions> = {
  initialMs: true,
  maxMs: true,
  jitter: true,
  clock: clockOption,
  random: functionOption,
};

/**
 * Creates a back-off without ids. Its memory is bounded by the ids that failed within twice `maxMs`.
 *
 * @throws TypeError for an option out of range, or one that is not known
 *
 * @example
 * ```ts
 * import { createItemBackoff } from '@kctl/wait';
 *
 * const pulls = createItemBackoff({ initialMs: 10_000, maxMs: 300_000 });
 * const image = 'shop:1.0';
 * if (!pulls.isInBackoff(image)) console.log('failed, again in', pulls.next(image));
 * ```
 */
export function createItemBackoff(options: ItemBackoffOptions): ItemBackoff {
  requireOptions('createItemBackoff', options, optionNames);
  const { initialMs, maxMs, jitter = 0, clock = systemClock } = options;
  const random = checkedRandom(options.random ?? systemRandom);
  const problem =
    numberProblem('initialMs', initialMs, { above: 0 }) ??
    numberProblem('maxMs', maxMs, { least: initialMs }) ??
    numberProblem('jitter', jitter, { least: 0 });
  if (problem !== undefined) throw new TypeError(`createItemBackoff: ${problem}`);
  const entries = new Map<string, Entry>();
  /** Number of ids before a search for expired ones, so that each id pays for a constant share of it. */
  let mostBeforeGc = 64;
  const isExpired = ({ failedAt }: Entry, instant: number): boolean => instant - failedAt > maxMs * 2;
  const find = (id: string, instant: number): Entry | undefined => {
    const entry = entries.get(id);
    return entry === undefined || isExpired(entry, instant) ? undefined : entry;
  };
  const gc = (): void => {
    const now = clock.monotonicNow();
    for (const [id, entry] of entries) if (isExpired(entry, now)) entries.delete(id);
    mostBeforeGc = Math.max(64, entries.size * 2);
  };
  return {
    get size() {
      return entries.size;
    },
    get: (id) => find(id, clock.monotonicNow())?.delayMs ?? 0,
    next(id) {
      const now = clock.monotonicNow();
      const before = find(id, now);
      const base = before === undefined ? initialMs : before.delayMs * 2;
      const delayMs = Math.min(base + (before?.delayMs ?? initialMs) * jitter * random(), maxMs);
      entries.set(id, { delayMs, failedAt: now });
      if (entries.size > mostBeforeGc) gc();
      return delayMs;
    },
    reset: (id) => void entries.delete(id),
    isInBackoff: (id) => {
      const now = clock.monotonicNow();
      const entry = find(id, now);
      return entry !== undefined && now - entry.failedAt < entry.delayMs;
    },
    isInBackoffSince: (id, instantMs) => {
      const entry = find(id, instantMs);
      return entry !== undefined && clock.monotonicNow() - instantMs < entry.delayMs;
    },
    gc,
  };
}
