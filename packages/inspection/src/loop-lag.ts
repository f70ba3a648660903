import type { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '@kctl/wait';

/** How late the event loop is, in ms. */
export interface LoopLag {
  readonly meanMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The period that the figures cover, which is the time since they were last reset. */
  readonly windowMs: number;
}

const resolutionMs = 20;
const windowMs = 60_000;

/** Measures the event loop while it runs, in windows of a minute; in real time alone. */
export class LoopLagMeter implements Disposable {
  readonly #clock: Clock;
  readonly #histogram: ReturnType<typeof monitorEventLoopDelay>;
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#histogram = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: resolutionMs });
    this.#histogram.enable();
    this.#since = clock.monotonicNow();
  }

  read(): LoopLag {
    const now = this.#clock.monotonicNow();
    const late = (nanoseconds: number): number =>
      Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e6 - resolutionMs) : 0;
    const { mean, max } = this.#histogram;
    const lag = {
      meanMs: late(mean),
      p99Ms: late(this.#histogram.percentile(99)),
      maxMs: this.#histogram.count === 0 ? 0 : late(max),
      windowMs: now - this.#since,
    };
    if (lag.windowMs >= windowMs) {
      this.#histogram.reset();
      this.#since = now;
    }
    return lag;
  }

  [Symbol.dispose](): void {
    this.#histogram.disable();
  }
}
