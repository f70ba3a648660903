import type { ApiServerOptions } from './api-server-options.js';
import type { KubeconfigOptions } from './api-server.js';
import type { Fault } from './faults/faults.js';
import type { ServiceAddress } from './webhooks/client-config.js';
import type { StoreSnapshot } from './storage/store.js';

/** Options that can cross to another thread, without clock, randomness or logger, and with Services as a table only. */
export interface WorkerServerOptions
  extends Omit<ApiServerOptions, 'clock' | 'random' | 'logger' | 'listen' | 'resolveService' | 'webhookTransport'> {
  /** Addresses of the Services that webhook configurations name, by `namespace/name:port` or `namespace/name`. */
  readonly resolveService?: Readonly<Record<string, ServiceAddress>>;
}

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
