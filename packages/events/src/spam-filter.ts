import type { Clock } from '@kctl/wait';

/** How many events a controller may send for one object. */
export interface SpamFilterOptions {
  readonly clock: Clock;
  /** Events at once. @default 25 */
  readonly burst?: number;
  /** One more in this many ms. @default 300_000 */
  readonly refillMs?: number;
  /** How many sources are tracked; the least recently used one is dropped. @default 4096 */
  readonly capacity?: number;
}

/** A token bucket for each source. Mirrors client-go's `EventSourceObjectSpamFilter`. */
export interface SpamFilter {
  /** Whether one more event of this source may be sent; counts it if so. */
  allows(source: string): boolean;
}

export function createSpamFilter(options: SpamFilterOptions): SpamFilter {
  const { clock, burst = 25, refillMs = 300_000, capacity = 4096 } = options;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    allows: (source) => {
      const now = clock.monotonicNow();
      const bucket = buckets.get(source) ?? { tokens: burst, at: now };
      bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
      bucket.at = now;
      buckets.delete(source);
      buckets.set(source, bucket);
      if (buckets.size > capacity) {
        const [oldest] = buckets.keys();
        if (oldest !== undefined) buckets.delete(oldest);
      }
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
  };
}
