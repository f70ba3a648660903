import type { UntypedObject } from '@kctl/apimachinery';
import type { Clock, Random } from '@kctl/wait';
import type { AdmissionChain } from '../admission/chain.js';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import type { AccessControl } from '../authorization/access-control.js';
import type { Negotiated } from '../codecs/negotiate.js';
import { formatTime } from '../protocol/go-text.js';
import type { Offload } from '../offload/offload.js';
import { createRuleEvaluation } from '../offload/rule-evaluation.js';
import type { Registry } from '../registry/registry.js';
import type { ResourceDefinition, WriteContext } from '../resource/resource.js';
import type { ApiRequest, User } from '../protocol/api-request.js';
import type { Authenticator } from '../authentication/authenticator.js';
import type { ResourcePath } from '../protocol/request-info.js';
import type { Store } from '../storage/store.js';
import type { PodScriptTable } from '../scripts/pod-scripts.js';
import type { WatchEnvironment } from '../watch/session.js';
import type { WebhookConnections, WriteCaller } from '../outgoing/webhook-caller.js';

/** Who may use the server, and how service accounts get their tokens. */
export interface Identities {
  readonly authenticator: Authenticator;
  readonly tokens: ServiceAccountTokens;
  /** Longest life of a service account token, in seconds; if undefined, the requested one. */
  readonly maxTokenSeconds: number | undefined;
  /** Whether new pods get their service account and its token. */
  readonly podServiceAccounts: boolean;
}

/** Server parts that writes of objects need. */
export interface WriteBackend {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** A fresh uid. */
  readonly newUid: () => string;
  /** Admission that every write passes. */
  readonly admission: AdmissionChain;
  /** Who decides what users may do. */
  readonly access: AccessControl;
  /** Runs work that would hold up other requests. */
  readonly offload: Offload;
  readonly identities: Pick<Identities, 'podServiceAccounts'>;
}

/** Server parts shared by all handlers. */
export interface Backend extends WriteBackend {
  readonly watch: WatchEnvironment;
  /** Who users are. */
  readonly identities: Identities;
  /** Connections for calling webhooks. */
  readonly webhooks: WebhookConnections;
  /** Scripts that answer for kubelets. */
  readonly pods: PodScriptTable;
}

/** Audit data of a request besides its answer. */
export interface RequestAudit {
  /** Audit annotations, by key; absent without annotations. */
  annotations?: Record<string, string>;
}

/** One request for a resource, on its way through a handler. */
export interface ResourceCall {
  readonly path: ResourcePath;
  readonly definition: ResourceDefinition;
  readonly query: URLSearchParams;
  readonly negotiated: Negotiated;
  readonly request: ApiRequest;
  readonly user: User;
  /** An injected fault, with which reads show the state of this many revisions ago. */
  readonly revisionsBehind: number;
  /** Runs work that would hold up other requests. */
  readonly offload: Offload;
  /** Messages of `Warning: 299` headers, collected on the way. */
  readonly warnings: string[];
  readonly audit: RequestAudit;
  /** Caller of mutating webhooks. @default as all others */
  readonly caller?: WriteCaller;
  /** Remaining time of the request, in ms, if it has begun elsewhere. @default all of it */
  readonly remainingMs?: number;
}

/** Table of CustomResourceDefinitions. */
export const crdTable = 'apiextensions.k8s.io/customresourcedefinitions';

/** The key of an object in its table. */
export function storageKeyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Parts of a request that strategies may know. */
export function writeContext(backend: WriteBackend, call: ResourceCall, dryRun: boolean): WriteContext {
  return {
    now: formatTime(backend.clock.now()),
    random: backend.random,
    objects: (storageKey) => liveObjects(backend.store, storageKey),
    warn: (text) => call.warnings.push(text),
    dryRun,
    rules: createRuleEvaluation(backend.offload),
    user: call.user.name,
    podServiceAccounts: backend.identities.podServiceAccounts,
  };
}

/** Live objects of a table, in storage form. */
export function* liveObjects(store: Store, table: string): Iterable<UntypedObject> {
  for (const [, version] of store.table(table).scan({})) yield version.object;
}
