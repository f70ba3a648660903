/**
 * A Kubernetes API server inside your Node process, ready in milliseconds, with no Docker and no binaries.
 *
 * @packageDocumentation
 */
export type { ApiServer } from './api-server.js';
export type { KubeconfigOptions, WorkerServerOptions } from './api-server-options.js';
export { createApiServer } from './api-server.js';
export type { ApiServerWorker, WorkerFaults } from './api-server-worker.js';
export { startApiServerWorker } from './api-server-worker.js';
export type { Capabilities } from './capabilities.js';
export { capabilities } from './capabilities.js';
export type { Commit } from './commits.js';
export type { ApiServerOptions, ControllerSwitches, ServiceAccountOptions, StaticToken } from './api-server-options.js';
export type { AuthorizationMode } from './authorization/access-control.js';
export type { Fault, FaultAction, FaultHandle, FaultMatch, Faults } from './faults/faults.js';
export type {
  Journal,
  JournalCommit,
  JournalEntry,
  JournalFault,
  JournalRequest,
  JournalResponse,
} from './journal/journal.js';
export type {
  LogEntry,
  LogRequest,
  PodMatch,
  PodScript,
  PodScripts,
  ScriptedContainer,
  ScriptedLog,
  ScriptedProcess,
} from './scripts/pod-scripts.js';
export type { Verb } from './resource/resource.js';
export type { PemPair as KeyAndCertificate } from '@kctl/http-server/internal/certificates';
export type { User } from './protocol/api-request.js';
export type { DirectAnswer, DirectReceiver, DirectRequest } from './server/direct.js';
export type { InProcessFetch } from './server/in-process.js';
export { CorruptStoreError, isStoreLockedError, StoreLockedError } from './storage/errors.js';
export type { ServiceAddress, ServiceReference, ServiceResolver } from './webhooks/client-config.js';
export type { WebhookCall, WebhookCallAnswer, WebhookTransport } from './webhooks/webhook-call.js';
export type { LogRecord, StoreSnapshot } from './storage/store.js';
