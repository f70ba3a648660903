import { chmod, writeFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { systemClock } from '@kctl/wait';
import type { KubeconfigOptions, WorkerServerOptions } from './api-server-options.js';
import { checkServerOptions } from './check-options.js';
import type { Fault } from './faults/faults.js';
import type { JournalEntry } from './journal/journal.js';
import type { PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';
import { packageThread } from './source-thread.js';
import type { StoreSnapshot } from './storage/store.js';
import type { WorkerCall, WorkerMessage } from './worker-protocol.js';

/** How long a thread may take to stop before it is terminated. */
const stopTimeoutMs = 5_000;

/**
 * A server in a separate thread, so that a busy test does not hold it up, nor it a test. Requests go over its socket.
 */
export interface ApiServerWorker extends AsyncDisposable {
  readonly url: string;
  readonly certificateAuthority: string;
  readonly token: string;
  kubeconfig(options?: KubeconfigOptions): Promise<string>;
  writeKubeconfig(path: string, options?: KubeconfigOptions): Promise<void>;
  issueClientCertificate(user: string, groups?: readonly string[]): Promise<KeyAndCertificate>;
  issueToken(user: string, groups?: readonly string[]): Promise<string>;
  snapshot(): Promise<StoreSnapshot>;
  restore(snapshot: StoreSnapshot): Promise<void>;
  compact(revision?: number): Promise<number>;
  journal(): Promise<readonly JournalEntry[]>;
  clearJournal(): Promise<void>;
  readonly faults: WorkerFaults;
  /**
   * Stops the server and ends the thread. A thread that is too busy to answer within 5 s is terminated. Stopping twice
   * is harmless.
   */
  stop(): Promise<void>;
  /** Ends the thread at once, whatever it is doing; open requests are cut, and nothing more is persisted. */
  terminate(): Promise<void>;
}

/** Faults of a server in another thread. */
export interface WorkerFaults {
  /** Returns the function that removes it. */
  add(fault: Fault): Promise<() => Promise<void>>;
  clear(): Promise<void>;
  failover(options?: { readonly downMs?: number }): Promise<void>;
}

/**
 * Starts a server in a worker thread. It does not keep the process alive.
 *
 * @throws what `start` of the server threw; an Error when the thread ends before it is ready
 */
export async function startApiServerWorker(options: WorkerServerOptions = {}): Promise<ApiServerWorker> {
  checkServerOptions(options, 'startApiServerWorker');
  const thread = new ServerThread(options);
  const ready = await thread.ready();
  const ask: ServerThread['ask'] = (call, guard) => thread.ask(call, guard);
  const stop = (): Promise<void> => thread.stop();
  const kubeconfig = (wanted: KubeconfigOptions = {}): Promise<string> =>
    ask({ method: 'kubeconfig', options: wanted }, isString);

  return {
    url: ready.url,
    certificateAuthority: ready.certificateAuthority,
    token: ready.token,
    kubeconfig,
    async writeKubeconfig(path, wanted) {
      await writeFile(path, await kubeconfig(wanted), { mode: 0o600 });
      await chmod(path, 0o600);
    },
    issueClientCertificate: (user, groups = []) =>
      ask({ method: 'issueClientCertificate', user, groups }, isKeyAndCertificate),
    issueToken: (user, groups = []) => ask({ method: 'issueToken', user, groups }, isString),
    snapshot: () => ask({ method: 'snapshot' }, isSnapshot),
    restore: (snapshot) => ask({ method: 'restore', snapshot }, isUndefined),
    compact: (revision) => ask({ method: 'compact', revision }, isNumber),
    journal: () => ask({ method: 'journal' }, isJournal),
    clearJournal: () => ask({ method: 'clearJournal' }, isUndefined),
    faults: {
      async add(fault) {
        const number = await ask({ method: 'addFault', fault }, isNumber);
        return () => ask({ method: 'removeFault', fault: number }, isUndefined);
      },
      clear: () => ask({ method: 'clearFaults' }, isUndefined),
      failover: ({ downMs = 0 } = {}) => ask({ method: 'failover', downMs }, isUndefined),
    },
    stop,
    terminate: () => thread.terminate(),
    [Symbol.asyncDispose]: stop,
  };
}

/** The thread of a server, and the calls that it has not answered yet. */
class ServerThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  readonly #exited: Promise<void>;
  #next = 0;
  #isStopping = false;
  #hasEnded = false;
  #stopped: Promise<void> | undefined;

  constructor(options: WorkerServerOptions) {
    const thread = packageThread('worker-main');
    this.#worker = new Worker(thread.url, { ...thread.options, workerData: options });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#end();
        resolve();
      });
    });
  }

  /** Resolves when the server has started; rejects if it could not, or the thread has ended before. */
  async ready(): Promise<ReadyMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<ReadyMessage>();
    this.#worker.once('error', reject);
    this.#worker.once('exit', (code) =>
      reject(new Error(`the API server's thread ended with code ${code} before it was ready`)),
    );
    this.#worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'ready') resolve(message);
      else if (message.type === 'failed')
        reject(message.error instanceof Error ? message.error : new Error(String(message.error)));
      else this.#answered(message);
    });
    const ready = await promise;
    this.#worker.unref();
    return ready;
  }

  #answered(message: Extract<WorkerMessage, { type: 'result' | 'error' }>): void {
    const call = this.#pending.get(message.id);
    if (message.type === 'result') call?.resolve(message.value);
    else call?.reject(message.error);
    this.#pending.delete(message.id);
    // An idle thread does not keep the process alive; a pending call does.
    if (this.#pending.size === 0 && !this.#isStopping) this.#worker.unref();
  }

  /** No call is answered from here on. */
  #end(): void {
    this.#hasEnded = true;
    for (const { reject } of this.#pending.values()) reject(new Error('the API server has been stopped'));
    this.#pending.clear();
  }

  // Each method of the protocol has one result type, which the worker's `perform` determines.
  ask<T>(call: WorkerCall, guard: (value: unknown) => value is T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(new Error('the API server has been stopped'));
        return;
      }
      const id = this.#next++;
      this.#pending.set(id, {
        resolve: (value) => {
          if (guard(value)) resolve(value);
          else reject(new TypeError(`the worker answered ${call.method} with ${typeof value}`));
        },
        reject,
      });
      this.#worker.ref();
      if (call.method === 'stop') this.#isStopping = true;
      this.#worker.postMessage({ id, call });
    });
  }

  async terminate(): Promise<void> {
    this.#end();
    await this.#worker.terminate();
    await this.#exited;
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stopOrTerminate());
  }

  async #stopOrTerminate(): Promise<void> {
    const late = systemClock.setTimer(() => void this.#worker.terminate(), stopTimeoutMs);
    try {
      await this.ask({ method: 'stop' }, isUndefined);
      await this.#exited;
    } catch (error) {
      if (this.#hasEnded) return; // terminated meanwhile: it is stopped all the same
      await this.#worker.terminate();
      throw error;
    } finally {
      late.cancel();
    }
  }
}

type ReadyMessage = Extract<WorkerMessage, { type: 'ready' }>;

const isString = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isUndefined = (value: unknown): value is undefined => value === undefined;
const isJournal = (value: unknown): value is readonly JournalEntry[] => Array.isArray(value);
const isSnapshot = (value: unknown): value is StoreSnapshot =>
  typeof value === 'object' && value !== null && 'records' in value && 'revision' in value;
const isKeyAndCertificate = (value: unknown): value is KeyAndCertificate =>
  typeof value === 'object' && value !== null && 'cert' in value && 'key' in value;
