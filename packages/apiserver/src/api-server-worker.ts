import { chmod, writeFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { systemClock } from '@kctl/wait';
import type { KubeconfigOptions } from './api-server.js';
import type { Fault } from './faults/faults.js';
import type { JournalEntry } from './journal/journal.js';
import type { KeyAndCertificate } from './server/certificates.js';
import { packageThread } from './source-thread.js';
import type { StoreSnapshot } from './storage/store.js';
import type { WorkerCall, WorkerMessage, WorkerServerOptions } from './worker-protocol.js';

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
  const thread = packageThread('worker-main');
  const worker = new Worker(thread.url, { ...thread.options, workerData: options });
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  let next = 0;
  let isStopping = false;
  let hasEnded = false;

  const ready = await new Promise<Extract<WorkerMessage, { type: 'ready' }>>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) =>
      reject(new Error(`the API server's thread ended with code ${code} before it was ready`)),
    );
    worker.on('message', (message: WorkerMessage) => {
      switch (message.type) {
        case 'ready':
          resolve(message);
          return;
        case 'failed':
          reject(message.error instanceof Error ? message.error : new Error(String(message.error)));
          return;
        case 'result':
          pending.get(message.id)?.resolve(message.value);
          break;
        case 'error':
          pending.get(message.id)?.reject(message.error);
          break;
      }
      pending.delete(message.id);
      // An idle thread does not keep the process alive; a pending call does.
      if (pending.size === 0 && !isStopping) worker.unref();
    });
  });
  /** No call is answered from here on. */
  const end = (): void => {
    hasEnded = true;
    for (const { reject } of pending.values()) reject(new Error('the API server has been stopped'));
    pending.clear();
  };
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end();
      resolve();
    });
  });
  worker.unref();

  // Each method of the protocol has one result type, which the worker's `perform` determines.
  const ask = <T>(call: WorkerCall, guard: (value: unknown) => value is T): Promise<T> =>
    new Promise((resolve, reject) => {
      if (hasEnded) {
        reject(new Error('the API server has been stopped'));
        return;
      }
      const id = next++;
      pending.set(id, {
        resolve: (value) => {
          if (guard(value)) resolve(value);
          else reject(new TypeError(`the worker answered ${call.method} with ${typeof value}`));
        },
        reject,
      });
      worker.ref();
      if (call.method === 'stop') isStopping = true;
      worker.postMessage({ id, call });
    });
  const kubeconfig = (wanted: KubeconfigOptions = {}): Promise<string> =>
    ask({ method: 'kubeconfig', options: wanted }, isString);
  let stopped: Promise<void> | undefined;
  const terminate = async (): Promise<void> => {
    end();
    await worker.terminate();
    await exited;
  };
  const stopOrTerminate = async (): Promise<void> => {
    const late = systemClock.setTimer(() => void worker.terminate(), stopTimeoutMs);
    try {
      await ask({ method: 'stop' }, isUndefined);
      await exited;
    } catch (error) {
      if (hasEnded) return; // terminated meanwhile: it is stopped all the same
      await worker.terminate();
      throw error;
    } finally {
      late.cancel();
    }
  };
  const stop = (): Promise<void> => (stopped ??= stopOrTerminate());

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
    terminate,
    [Symbol.asyncDispose]: stop,
  };
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isUndefined = (value: unknown): value is undefined => value === undefined;
const isJournal = (value: unknown): value is readonly JournalEntry[] => Array.isArray(value);
const isSnapshot = (value: unknown): value is StoreSnapshot =>
  typeof value === 'object' && value !== null && 'records' in value && 'revision' in value;
const isKeyAndCertificate = (value: unknown): value is KeyAndCertificate =>
  typeof value === 'object' && value !== null && 'cert' in value && 'key' in value;
