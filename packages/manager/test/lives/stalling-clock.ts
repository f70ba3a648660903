import type { ClockTimer } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';

/** A clock whose owner can be kept from running: time goes on, and timers fire late. */
export class StallingClock extends FakeClock {
  #floor = 0;

  override monotonicNow(): number {
    return Math.max(this.#floor, super.monotonicNow());
  }

  override now(): number {
    return super.now() + this.#lateMs;
  }

  override setTimer(callback: () => void, delayMs: number): ClockTimer {
    return super.setTimer(callback, delayMs + this.#lateMs);
  }

  get #lateMs(): number {
    return this.monotonicNow() - super.monotonicNow();
  }

  /** The event loop was blocked for so long: what is due has not fired yet. `advance` by as much fires it, late. */
  stall(ms: number): void {
    this.#floor = super.monotonicNow() + ms;
  }
}
