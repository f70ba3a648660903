import { type Fence, type LeaderElector } from '@kctl/leader-election';
import { NotLeaderError } from '@kctl/leader-election/internal';
import { type OnLost } from '@kctl/manager';
import { rejoinsAfter } from '@kctl/manager/internal';

/**
 * The fence of code outside leader runnables, such as webhooks and runnables without leadership. It may write on a
 * standby, so the fence is open, except after the end of the manager and after a loss that ends the manager.
 */
export class OutsideFence implements Fence {
  elector: LeaderElector | undefined;
  readonly #lock: string;
  readonly #onLost: OnLost;
  /** A term has begun, and it is not known yet that the manager outlives its end. */
  #isBound = false;
  #isClosed = false;

  constructor(lock: string, onLost: OnLost) {
    this.#lock = lock;
    this.#onLost = onLost;
  }

  /** A term has begun; `signal` is that of the term. */
  began(signal: AbortSignal): void {
    if (this.#onLost === 'rejoin') return;
    this.#isBound = true;
    signal.addEventListener('abort', () => (this.#isBound = !rejoinsAfter(signal.reason, this.#onLost)), {
      once: true,
    });
  }

  /** The manager has ended. */
  close(): void {
    this.#isClosed = true;
  }

  get isOpen(): boolean {
    return !this.#isClosed && (!this.#isBound || this.elector?.isLeader === true);
  }

  /** Aborts work in progress if a loss ends the manager. */
  get signal(): AbortSignal | undefined {
    return this.#onLost === 'exit' ? this.elector?.fence.signal : undefined;
  }

  check(): void {
    if (!this.isOpen) throw new NotLeaderError(this.#lock);
  }
}
