import { Worker } from 'node:worker_threads';
import type { Clock } from '@kctl/wait';
import { entityTooLarge, tooManyRequests, unclassified } from '../protocol/status.js';
import { packageThread } from '../source-thread.js';
import { inlineDepth } from '../json/strict-json.js';
import type { Job, JobResult } from './jobs.js';

/** Another thread for what would hold up the requests of this one. It starts with the first job. */
export interface Offload {
  /**
   * Does a job in the thread; jobs are done one after the other. An abort removes a waiting job from the queue, and
   * ends the thread for one that is under way, in which case the next job gets a new thread.
   *
   * @throws StatusError 413 if it uses more CPU time than it may, 429 if too many wait; the reason of the signal
   */
  run<J extends Job>(job: J, signal?: AbortSignal): Promise<JobResult<J>>;
  /** How deeply JSON may be nested in this thread. */
  readonly depth: number;
  /** Ends the thread; what waits for it fails, and so does what comes later. */
  close(): void;
}

/** Options of {@link createOffload}. */
export interface OffloadOptions {
  readonly clock: Clock;
  /**
   * CPU time for one job, in ms, after which the thread is terminated and a new one takes its place. If Node does not
   * report the CPU time of a thread, or if a job needs no CPU time, elapsed time counts, up to ten times as much.
   */
  readonly jobTimeoutMs: number;
  /** CPU time of a thread, in ms; undefined if Node does not report it. @default that of Node 24.6 and later */
  readonly cpuTimeMs?: (worker: Worker) => Promise<number | undefined>;
}

/** A job may take this many times its CPU time, on a machine that does other work. */
const patience = 10;

/** Older versions of Node do not report it. */
function hasCpuUsage(worker: Worker): worker is Worker & { cpuUsage(): Promise<NodeJS.CpuUsage> } {
  return 'cpuUsage' in worker && typeof worker.cpuUsage === 'function';
}

async function cpuTimeOf(worker: Worker): Promise<number | undefined> {
  if (!hasCpuUsage(worker)) return undefined;
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    // The thread has ended.
    return undefined;
  }
}

/** Jobs that may wait. */
const maxWaiting = 100;

interface Pending {
  readonly job: Job;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Answer of the thread. */
export type OffloadMessage = { readonly value: unknown } | { readonly error: string };

class ThreadOffload implements Offload {
  readonly depth = inlineDepth;
  readonly #clock: Clock;
  readonly #jobTimeoutMs: number;
  readonly #waiting: Pending[] = [];
  #worker: Worker | undefined;
  #current: Pending | undefined;
  #timer: { cancel(): void } | undefined;
  readonly #cpuTimeMs: (worker: Worker) => Promise<number | undefined>;
  #isClosed = false;

  constructor({ clock, jobTimeoutMs, cpuTimeMs = cpuTimeOf }: OffloadOptions) {
    this.#clock = clock;
    this.#jobTimeoutMs = jobTimeoutMs;
    this.#cpuTimeMs = cpuTimeMs;
  }

  async run<J extends Job>(job: J, signal?: AbortSignal): Promise<JobResult<J>> {
    signal?.throwIfAborted();
    // Requests under way when the server stopped may have more to do, but no thread would end it.
    if (this.#isClosed) throw unclassified('the server is shutting down');
    if (this.#waiting.length >= maxWaiting)
      throw tooManyRequests('too many requests that take long are waiting, please try again later', 1);
    const { promise, resolve, reject } = Promise.withResolvers<JobResult<J>>();
    // The thread answers a job with the result of its type, see offload-main.
    const pending: Pending = { job, resolve: resolve as (value: unknown) => void, reject };
    const leave = (): void => this.#leave(pending, signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiting.push(pending);
    this.#next();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(unclassified('the server is shutting down'));
    this.#end(unclassified('the server is shutting down'));
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const pending = this.#waiting.shift();
    if (pending === undefined) return;
    this.#current = pending;
    const worker = (this.#worker ??= this.#start());
    void this.#limit(worker, pending);
    worker.ref();
    try {
      worker.postMessage(pending.job);
    } catch (error) {
      // A value that cannot be copied to the thread fails only this job.
      worker.unref();
      this.#finish(({ reject }) => reject(error));
    }
  }

  /** Ends a job that has used up its CPU time, which does not depend on other work on this machine. */
  async #limit(worker: Worker, pending: Pending): Promise<void> {
    const start = this.#cpuTimeMs(worker);
    const begun = this.#clock.monotonicNow();
    for (let left = this.#jobTimeoutMs; left > 0; ) {
      const timed = Promise.withResolvers<undefined>();
      this.#timer = this.#clock.setTimer(() => timed.resolve(undefined), left, { keepAlive: false });
      await timed.promise;
      const [before, now] = [await start, await this.#cpuTimeMs(worker)];
      if (this.#current !== pending) return;
      const isPatient = this.#clock.monotonicNow() - begun < patience * this.#jobTimeoutMs;
      // A thread that is about to start reports nothing yet, so it has used no CPU time.
      left = now === undefined || !isPatient ? 0 : this.#jobTimeoutMs - (now - (before ?? 0));
      // A thread that uses no CPU at all is checked again, a few times.
      if (left > 0) left = Math.max(left, 10);
    }
    this.#end(tooLong(this.#jobTimeoutMs));
  }

  #leave(pending: Pending, reason: unknown): void {
    if (pending === this.#current) {
      this.#end(reason);
      return;
    }
    const index = this.#waiting.indexOf(pending);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    pending.reject(reason);
  }

  #start(): Worker {
    const { url, options } = packageThread('offload-main');
    // The stack is for walks of trees that are 10,000 levels deep; of what is not used no memory is taken.
    const worker = new Worker(url, { ...options, resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 64 } });
    worker.unref();
    worker.on('message', (message: OffloadMessage) => {
      if (this.#worker !== worker) return;
      worker.unref();
      this.#finish((pending) => {
        if ('error' in message) pending.reject(unclassified(message.error));
        else pending.resolve(message.value);
      });
    });
    // A thread that runs out of memory or stack costs the job that it works on.
    worker.on('error', () => {
      if (this.#worker === worker) this.#end(tooLarge());
    });
    return worker;
  }

  /** Terminates the thread; the present job fails. */
  #end(reason: unknown): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#finish(({ reject }) => reject(reason));
  }

  #finish(settle: (pending: Pending) => void): void {
    const pending = this.#current;
    this.#current = undefined;
    this.#timer?.cancel();
    if (pending !== undefined) settle(pending);
    this.#next();
  }
}

function tooLong(ms: number): Error {
  return entityTooLarge(
    `Request entity too large: reading or validating it takes more than ${ms} ms of CPU time; send a smaller object`,
  );
}

function tooLarge(): Error {
  return entityTooLarge(
    'Request entity too large: reading or validating it needs too much memory; send a smaller object',
  );
}

/** Makes an offload; nothing runs before its first job. */
export function createOffload(options: OffloadOptions): Offload {
  return new ThreadOffload(options);
}
