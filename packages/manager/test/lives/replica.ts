// One manager of the lives that are generated, what of it runs, and what it must say of itself.
import type { GroupVersionKind } from '@kctl/apimachinery';
import { createLeaderElector } from '@kctl/leader-election';
import type { Logger } from '@kctl/telemetry';
import { noopLogger } from '@kctl/telemetry';
import type { InformerReport, Manager, OnLost, Runnable } from '../../src/index.js';
import { createManager } from '../../src/index.js';
import { FakeCache, fakeCluster } from '../fakes.js';
import type { MemoryLease } from '../memory-lock.js';
import { StallingClock } from './stalling-clock.js';

export const durations = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
export const stepMs = 250;
const informerGraceMs = 30_000;
const host = '127.0.0.1';
const pods: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };

/** How a runnable behaves: how long after its signal it ends, and what it does before. */
export interface Nature {
  readonly needLeaderElection: boolean;
  readonly endsAfterMs: number;
  readonly failsAfterMs: number | undefined;
  readonly finishes: boolean;
  /** The scope of its lease. @default the manager's own */
  readonly scope?: string;
}

/** How a replica is made. */
export interface Life {
  readonly onLost: OnLost;
  readonly graceMs: number;
  readonly startsAtMs: number;
  /** When its cache has synced, at the earliest. */
  readonly syncsAtMs: number;
  /** When a runnable with a lease of its own is added. */
  readonly addsScopedAtMs: number;
  readonly natures: readonly Nature[];
}

export class Replica {
  readonly clock: StallingClock = new StallingClock();
  readonly manager: Manager;
  readonly stop: AbortController = new AbortController();
  readonly runnables: Runnable[] = [];
  running = 0;
  /** Scopes other than the manager's own of which work began although another held their lease, or none did. */
  readonly usurped: string[] = [];
  leaderWork = 0;
  outcome: unknown = 'new';
  stoppedAt: number | undefined;
  /** When it last wrote the lease, by its own clock. */
  wroteAt: number = -Infinity;
  #listeners = 0;
  #port = 0;
  #isSynced = false;
  /** Of a kind that was declared while it ran: whether its informer has synced. */
  #isLateSynced: boolean | undefined;
  #lost: { readonly reason: string; readonly since: number } | undefined;
  readonly #cache: FakeCache = new FakeCache([], false);
  readonly #graceMs: number;
  readonly #identity: string;
  readonly #leaseOf: (scope: string) => MemoryLease;

  constructor(identity: string, { onLost, graceMs, natures }: Life, leaseOf: (scope: string) => MemoryLease) {
    const { clock } = this;
    this.#identity = identity;
    this.#leaseOf = leaseOf;
    this.#graceMs = graceMs;
    this.#report();
    this.manager = createManager({
      cluster: fakeCluster(this.#cache),
      clock,
      logger: this.#logger(),
      health: { host, port: 0 },
      gracefulShutdownTimeoutMs: graceMs,
      leaderElection: {
        onLost,
        rejoinTimeoutMs: 5_000,
        newElector: ({ scope, lead, reelect }) =>
          createLeaderElector({
            ...durations,
            reelect,
            clock,
            random: () => 0.5,
            lock: leaseOf(scope).lock(identity),
            callbacks: { onStartedLeading: lead },
          }),
      },
    });
    this.manager.elected.catch(() => undefined);
    for (const each of natures) this.add(each);
    const { signal } = this.stop;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      this.#listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      this.#listeners--;
      remove(...args);
    };
  }

  get listeners(): number {
    return this.#listeners;
  }

  get isOver(): boolean {
    return this.outcome !== 'new' && this.outcome !== 'running';
  }

  add({ needLeaderElection, endsAfterMs, failsAfterMs, finishes, scope = '' }: Nature): void {
    const { clock } = this;
    const work = (delta: number): void => {
      this.running += delta;
      if (needLeaderElection) this.leaderWork += delta;
    };
    const runnable: Runnable = {
      needLeaderElection,
      leaderElectionScope: scope,
      sources: () => [{ name: 'kind source: Pod', kind: pods, isRequired: true }],
      run: async (signal) => {
        // Not of the manager's own: that is stolen, and what is stolen is noticed only at the next renewal.
        if (scope !== '' && this.#leaseOf(scope).holder !== this.#identity) this.usurped.push(scope);
        work(1);
        try {
          await new Promise<void>((resolve, reject) => {
            const timer =
              failsAfterMs === undefined
                ? undefined
                : clock.setTimer(() => (finishes ? resolve() : reject(new Error('failed'))), failsAfterMs);
            const onAbort = (): void => {
              timer?.cancel();
              if (endsAfterMs === 0) resolve();
              else clock.setTimer(resolve, endsAfterMs);
            };
            if (signal.aborted) onAbort();
            else signal.addEventListener('abort', onAbort, { once: true });
          });
        } finally {
          work(-1);
        }
      },
    };
    try {
      this.manager.add(runnable);
      this.runnables.push(runnable);
    } catch {
      // It is stopping, because it was told to or because of a failure: nothing is taken then.
    }
  }

  run(): void {
    this.outcome = 'running';
    void this.manager.run(this.stop.signal).then(
      () => (this.outcome = 'ended'),
      (error: unknown) => (this.outcome = error),
    );
  }

  end(): void {
    this.stoppedAt ??= this.clock.monotonicNow();
    this.stop.abort();
  }

  /** The first list is in the cache. */
  sync(): void {
    this.#isSynced = true;
    this.#cache.synced.resolve(undefined);
    this.#report();
  }

  /** The watch broke, and cannot be had again. */
  loseWatch(reason: string): void {
    this.#lost ??= { reason, since: this.clock.monotonicNow() };
    this.#report();
  }

  /** An informer more, which has to sync: the cache has synced long ago. */
  declareLate(): void {
    this.#isLateSynced ??= false;
    this.#report();
  }

  /** Whatever was wrong with its informers is over. */
  watchAgain(): void {
    this.#lost = undefined;
    if (this.#isLateSynced === false) this.#isLateSynced = true;
    this.#report();
  }

  /** When `run` must have settled at the latest, once it was told to stop. */
  get dueAt(): number {
    const releaseMs = 2_000;
    return this.stoppedAt === undefined ? Infinity : this.stoppedAt + this.#graceMs + releaseMs + stepMs;
  }

  /** What `/readyz` answers, and what it must: undefined where it does not serve, or where nothing is said of that. */
  async readiness(): Promise<{ readonly isReady: boolean; readonly must: boolean } | undefined> {
    if (this.outcome !== 'running' || this.#port === 0 || this.manager.dependencies.stopSignal.aborted)
      return undefined;
    const must = this.#mustBeReady();
    const url = `http://${host}:${this.#port}/readyz`;
    const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    // A failure may have stopped it meanwhile.
    if (answer === undefined || this.manager.dependencies.stopSignal.aborted) return undefined;
    return { isReady: answer.status === 200, must };
  }

  /** Synced now, and watching, or lost for a reason that spares no replica, or not for long. Leadership is no matter. */
  #mustBeReady(): boolean {
    if (!this.#isSynced || this.#isLateSynced === false) return false;
    if (this.#lost === undefined || this.#lost.reason === 'connection') return true;
    return this.clock.monotonicNow() - this.#lost.since <= informerGraceMs;
  }

  #report(): void {
    const state = { phase: this.#lost === undefined ? 'watching' : 'retrying', since: this.#lost?.since ?? 0 };
    const trouble = this.#lost === undefined ? {} : { trouble: { reason: this.#lost.reason, message: 'lost' } };
    const report: InformerReport = this.#isSynced
      ? { kind: pods, state, hasSynced: true, ...trouble }
      : { kind: pods, state: { phase: 'listing' }, hasSynced: false };
    const late: InformerReport = {
      kind: { ...pods, kind: 'Node' },
      state: { phase: this.#isLateSynced === true ? 'watching' : 'listing' },
      hasSynced: this.#isLateSynced === true,
    };
    this.#cache.reports = this.#isLateSynced === undefined ? [report] : [report, late];
  }

  #logger(): Logger {
    const logger: Logger = {
      ...noopLogger,
      child: () => logger,
      info: (message, fields = {}) => {
        const address = fields['addr'];
        if (message !== 'starting server' || typeof address !== 'object' || address === null) return;
        if ('port' in address) this.#port = Number(address.port);
      },
    };
    return logger;
  }
}
