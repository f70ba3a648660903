/**
 * The contracts of a Kubernetes client. No I/O: `@kctl/client-http` and `@kctl/client-delegating` implement them.
 *
 * @packageDocumentation
 */
export type {
  Client,
  FrameReader,
  FrameStream,
  KindResolver,
  ListFrames,
  ReadObject,
  Reader,
  StatusClient,
  SubResourceClient,
  SubResources,
  Watcher,
  WatchEvent,
  WatchingClient,
  WatchStream,
  Writer,
} from './client.js';
export type {
  AbortOptions,
  CreateOptions,
  DeleteAllOfOptions,
  DeleteOptions,
  FieldValidation,
  GetOptions,
  ListOptions,
  PatchOptions,
  Preconditions,
  PropagationPolicy,
  ResourceVersionMatch,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.js';
export type { JsonPatchOperation, Patch } from './patch.js';
