import type { UntypedObject } from '@kctl/apimachinery';
import type { LongReader } from '../long-reads/long-reader.js';
import type { WebhookCaller } from '../outgoing/webhook-caller.js';
import type { ResourceDefinition } from '../resource/resource.js';

/** An API group as discovery lists it. */
export interface ApiGroup {
  readonly name: string;
  /** Served versions, the preferred one first. */
  readonly versions: readonly string[];
}

/** Change of a registry. */
export interface RegistryChange {
  readonly added: readonly ResourceDefinition[];
  readonly removed: readonly ResourceDefinition[];
}

/** All resources that a server serves. Changes are synchronous, so the next look-up sees them. */
export interface Registry {
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  findKind(group: string, version: string, kind: string): ResourceDefinition | undefined;
  /**
   * Whether the group and version are served at all, which decides between a Status and the bare `404 page not found`.
   */
  hasGroupVersion(group: string, version: string): boolean;
  /** All definitions of a storage, the storage version first if it is served. */
  ofStorage(storageKey: string): readonly ResourceDefinition[];
  /** All definitions, in discovery order. */
  list(): readonly ResourceDefinition[];
  /** Groups in discovery order; the core group ('') first. */
  groups(): readonly ApiGroup[];
  /** Puts the served versions of a CustomResourceDefinition in place of those it had before. Returns what changed. */
  registerCrd(crd: UntypedObject): RegistryChange;
  /** Stops serving a CustomResourceDefinition. */
  unregisterCrd(name: string): RegistryChange;
  /** Calls back after each change, synchronously. Returns the function that ends it. */
  subscribe(listener: (change: RegistryChange) => void): () => void;
  /** Grows with each change, as an ETag for discovery. */
  readonly revision: number;
}

/** Options of {@link createRegistry}. */
export interface RegistryOptions {
  /** Definitions that are always there. Later ones replace earlier ones of the same group, version and plural. */
  readonly definitions?: Iterable<ResourceDefinition>;
  /** Calls conversion webhooks. @default they are not called, and versions are converted by their names only */
  readonly webhookCaller?: WebhookCaller;
  /** Reads long custom resources. @default they are read at once */
  readonly longReader?: LongReader;
}
