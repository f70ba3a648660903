import type { ResourceDefinition } from '../registry/resource.js';
import type { ObjectVersion } from '../storage/version.js';

/** Type of an event on the wire. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** How events look on the wire: the object itself, its metadata alone, or a Table. */
export interface WatchShape {
  /** Equal ids give equal bytes. */
  readonly id: string;
  readonly definition: ResourceDefinition;
  /** The JSON of the object of an event; `isFirst` says that it is the first that this watcher gets. */
  objectText(version: ObjectVersion, isFirst: boolean): string;
  /** The JSON of a bookmark's object. */
  bookmarkText(revision: string, annotations: Readonly<Record<string, string>> | undefined): string;
  /** Whether the first event differs from the following ones (a Table names its columns once). */
  readonly hasPreamble: boolean;
}

const encoder = new TextEncoder();

/** One line of a watch. */
export function watchLine(type: string, objectText: string): Uint8Array {
  return encoder.encode(`{"type":"${type}","object":${objectText}}\n`);
}
