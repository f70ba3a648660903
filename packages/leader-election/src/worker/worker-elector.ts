import type { Worker } from 'node:worker_threads';
import { requireSignal } from '@kctl/options';
import { anySignal, untilAborted, type ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { callSafely } from '../call-safely.js';
import { createElectionMetrics, type ElectionMetrics } from '../election-metrics.js';
import { LeadershipLostError } from '../errors.js';
import { bootOffsetMs } from '../awake-clock.js';
import { createFence, type Fence } from '../fence.js';
import { requireStepDownOptions, type LeaderElector, type StepDownOptions } from '../leader-elector.js';
import { settledWithin, startWork, type Work } from '../work.js';
import { fromFailure, type FromWorker, type ToWorker } from './protocol.js';
import { createProcessClock, createSharedMemory, sharedState } from './shared-state.js';
import { startThread } from './thread.js';
import {
  resolveWorkerOptions,
  type ResolvedWorkerLeaderElectorOptions,
  type WorkerLeaderElectorOptions,
} from './worker-options.js';

/**
 * Returns a leader elector whose requests and timers run in a separate thread, with a separate connection, so that a
 * busy event loop does not cost the lease. Work and callbacks stay in this thread. While this thread is silent for
 * longer than `mainStallLimitMs`, the worker stops renewing and closes the fence, which this thread sees at its next
 * check.
 *
 * @throws TypeError, RangeError when the options cannot keep two leaders apart
 */
export function createWorkerLeaderElector(options: WorkerLeaderElectorOptions): LeaderElector {
  return new WorkerElector(resolveWorkerOptions(options));
}

/** The term as seen by this thread. */
interface MainTerm {
  readonly number: number;
  readonly controller: AbortController;
  readonly work: Work;
}

class WorkerElector implements LeaderElector {
  readonly fence: Fence;
  readonly #options: ResolvedWorkerLeaderElectorOptions;
  readonly #memory = createSharedMemory();
  readonly #shared = sharedState(this.#memory);
  readonly #clock = createProcessClock();
  readonly #metrics: ElectionMetrics;
  #abandoned = new AbortController();
  #isRunning = false;
  #worker: Worker | undefined;
  #term: MainTerm | undefined;
  /** Work that did not end in time. */
  #straggler: Work | undefined;
  #leader = '';
  #failure: { readonly error: unknown } | undefined;
  #onEnded: (() => void)[] = [];

  constructor(options: ResolvedWorkerLeaderElectorOptions) {
    this.#options = options;
    this.#metrics = createElectionMetrics(options.metrics, options.name);
    this.fence = createFence(options.name, {
      isOpen: () => this.isLeader,
      signal: () => this.#term?.controller.signal,
    });
  }

  get isLeader(): boolean {
    return this.#term !== undefined && this.#isOpen(this.#term.number);
  }

  get renewedMsAgo(): number | undefined {
    if (!this.isLeader) return undefined;
    const renewedAt = this.#shared.expiresAt - this.#options.election.leaseDurationMs;
    return this.#clock.monotonicNow() - renewedAt;
  }

  get leader(): string {
    return this.#leader;
  }

  async stepDown(options: StepDownOptions = {}): Promise<void> {
    requireStepDownOptions(options);
    const { holdOffMs = this.#options.election.leaseDurationMs } = options;
    if (this.#term === undefined) return;
    const ended = new Promise<void>((resolve) => this.#onEnded.push(resolve));
    this.#tell({ type: 'step-down', holdOffMs });
    await ended;
  }

  abandon(): void {
    this.#abandoned.abort(new DOMException('the election was abandoned', 'AbortError'));
  }

  checkHealth(toleranceMs = 0): void {
    const work = this.#term?.work ?? this.#straggler;
    if (work === undefined || work.settled) return;
    const late = this.#clock.monotonicNow() - this.#shared.expiresAt;
    if (late > toleranceMs)
      throw new Error(
        `failed election to renew leadership on ${this.#options.name}: the lease expired ${Math.round(late)} ms ago`,
      );
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal('LeaderElector.run', signal);
    if (this.#isRunning) throw new TypeError('LeaderElector.run: already running');
    this.#isRunning = true;
    this.#abandoned = new AbortController();
    using stop = anySignal([signal, this.#abandoned.signal]);
    try {
      // Beside the work of an earlier run, that of this one would be the same work twice.
      if (this.#straggler !== undefined) await untilAborted(this.#straggler.done, stop.signal);
      if (this.#straggler?.settled === false) this.#tellStopped(false);
      else await this.#compete(signal);
    } finally {
      this.#isRunning = false;
    }
  }

  async #compete(signal: AbortSignal): Promise<void> {
    this.#failure = undefined;
    this.#straggler = undefined;
    const { election, lockModule, threadModule, lockData, name } = this.#options;
    const module = typeof threadModule === 'function' ? await threadModule() : threadModule;
    let heartbeat: ClockTimer | undefined;
    const beat = (): void => {
      this.#shared.heartbeat = this.#clock.monotonicNow();
      heartbeat = startTimer(this.#clock, beat, election.heartbeatMs);
    };
    const bootOffset = bootOffsetMs(this.#clock);
    this.#shared.heartbeat = this.#clock.monotonicNow(); // the thread looks at it from the start
    const input = { memory: this.#memory, bootOffsetMs: bootOffset, lockModule, lockData, election };
    const worker = startThread(input, module);
    beat();
    this.#worker = worker;
    const onAbort = (): void => this.#tell({ type: 'stop' });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      const done = await this.#untilDone(worker);
      if (done === undefined) return; // abandoned
      const { lost, failure } = done;
      this.#throwWorkFailure();
      if (failure !== undefined) throw fromFailure(failure);
      if (lost !== undefined) throw new LeadershipLostError(name, { cause: fromFailure(lost) });
    } finally {
      signal.removeEventListener('abort', onAbort);
      heartbeat?.cancel();
      // A thread that has died can neither close the fence nor wait for the work.
      this.#shared.openUntil = 0;
      this.#close(new Error('the election has ended'));
      await worker.terminate();
      await this.#abandon();
      this.#worker = undefined;
    }
  }

  /** Ends a term whose end the thread has not reported; the work has until others may lead. */
  async #abandon(): Promise<void> {
    this.#shared.openUntil = 0; // the thread may have written until it was terminated
    if (this.#term !== undefined) {
      const leftMs = this.#shared.expiresAt - this.#clock.monotonicNow();
      await settledWithin(this.#term.work, leftMs, { clock: this.#clock, signal: this.#abandoned.signal });
      this.#end({ led: true });
    }
    this.#resolveEnded();
  }

  #end(outcome: { readonly led: boolean }): void {
    if (this.#term?.work.settled === false) this.#straggler = this.#term.work;
    this.#term = undefined;
    this.#tellStopped(outcome.led);
  }

  #tellStopped(led: boolean): void {
    const { callbacks, logger } = this.#options;
    callSafely(logger, 'onStoppedLeading', () => callbacks.onStoppedLeading?.({ led }));
  }

  #throwWorkFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #isOpen(term: number): boolean {
    // In this order, because a later term that began in between is recognized by its number.
    const { openUntil } = this.#shared;
    return this.#shared.term === term && this.#clock.monotonicNow() < openUntil;
  }

  #tell(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  /** The thread's result; undefined when the election was abandoned. */
  #untilDone(worker: Worker): Promise<Extract<FromWorker, { type: 'done' }> | undefined> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#abandoned;
      if (signal.aborted) resolve(undefined);
      signal.addEventListener('abort', () => resolve(undefined));
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread of the election ended with code ${code}`)));
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'done') resolve(message);
        else this.#hear(message);
      });
    });
  }

  #hear(message: Exclude<FromWorker, { type: 'done' }>): void {
    const { callbacks, logger } = this.#options;
    switch (message.type) {
      case 'started':
        this.#start(message.term);
        break;
      case 'closed':
        if (this.#term?.number === message.term) this.#close(fromFailure(message.reason));
        break;
      case 'ended':
        this.#end({ led: message.led });
        this.#resolveEnded();
        break;
      case 'leader':
        this.#leader = message.identity;
        callSafely(logger, 'onNewLeader', () => callbacks.onNewLeader?.(message.identity));
        break;
      case 'count':
        this.#metrics[message.metric].inc();
        break;
      case 'log':
        logger[message.level](message.message, message.fields);
        break;
    }
  }

  #start(number: number): void {
    const { callbacks, logger, name } = this.#options;
    const controller = new AbortController();
    const fence = createFence(name, {
      isOpen: () => !controller.signal.aborted && this.#isOpen(number),
      signal: () => controller.signal,
    });
    // The message may have waited for a stall to end, and the term may be over by now.
    if (!this.#isOpen(number)) {
      this.#tell({ type: 'work-ended', term: number, failed: false });
      return;
    }
    const work = startWork(
      () => callbacks.onStartedLeading(controller.signal, fence),
      controller.signal,
      (error) => logger.warn('the work failed while it was being stopped', { lock: name, error }),
    );
    this.#term = { number, controller, work };
    this.#metrics.status.set(1);
    void work.done.then(() => {
      this.#failure = work.failure;
      this.#tell({ type: 'work-ended', term: number, failed: work.failure !== undefined });
    });
  }

  /** Ends the term here by aborting its signal. */
  #close(reason: Error): void {
    this.#metrics.status.set(0);
    this.#term?.controller.abort(reason);
  }

  #resolveEnded(): void {
    for (const resolve of this.#onEnded.splice(0)) resolve();
  }
}
