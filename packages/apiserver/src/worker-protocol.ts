import type { KubeconfigOptions } from './api-server-options.js';
import type { Fault } from './faults/faults.js';
import type { StoreSnapshot } from './storage/store.js';

/** Calls to the server in the worker, by name. */
export type WorkerCall =
  | { readonly method: 'stop' }
  | { readonly method: 'kubeconfig'; readonly options: KubeconfigOptions }
  | { readonly method: 'snapshot' }
  | { readonly method: 'restore'; readonly snapshot: StoreSnapshot }
  | { readonly method: 'compact'; readonly revision: number | undefined }
  | { readonly method: 'journal' }
  | { readonly method: 'clearJournal' }
  | { readonly method: 'issueClientCertificate'; readonly user: string; readonly groups: readonly string[] }
  | { readonly method: 'issueToken'; readonly user: string; readonly groups: readonly string[] }
  | { readonly method: 'addFault'; readonly fault: Fault }
  | { readonly method: 'removeFault'; readonly fault: number }
  | { readonly method: 'clearFaults' }
  | { readonly method: 'failover'; readonly downMs: number };

/** From the caller to the worker. */
export interface WorkerRequest {
  readonly id: number;
  readonly call: WorkerCall;
}

/** From the worker to the caller. */
export type WorkerMessage =
  | { readonly type: 'ready'; readonly url: string; readonly certificateAuthority: string; readonly token: string }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: unknown };
