import type { Status } from '@kctl/apimachinery';
import type { PendingWork } from './pending-work.js';
import type { ResourceDefinition } from '../resource/resource.js';
import type { ObjectVersion } from '../storage/version.js';

/** Type of an event on the wire. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * Form of events on the wire, with the object itself, its metadata alone, or a Table; as lines of JSON, or as frames of
 * protobuf.
 */
export interface WatchShape {
  /** Equal ids give equal bytes. */
  readonly id: string;
  readonly definition: ResourceDefinition;
  /** An event; `isFirst` marks the first one that this watcher gets. */
  event(type: EventType, version: ObjectVersion, isFirst: boolean): Uint8Array;
  bookmark(revision: string, annotations: Readonly<Record<string, string>> | undefined): Uint8Array;
  /** The failure that ends a watch. */
  error(status: Status): Uint8Array;
  /** Whether the first event differs from the following ones (a Table names its columns once). */
  readonly hasPreamble: boolean;
  /** Returns the work to do elsewhere before {@link event} is quick; undefined if it is. */
  pending?(version: ObjectVersion): PendingWork | undefined;
}
