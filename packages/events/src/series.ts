import type { RecordedEvent } from './event.js';

/** One event, and how often it was repeated. */
export interface Series {
  readonly key: string;
  readonly recorded: RecordedEvent;
  /** Current note, which is the latest one if the series stands for events with different notes. */
  note: string;
  /** The note that the server has. */
  sentNote: string;
  readonly namespace: string;
  /** The name of the Event object; a new one when the server has forgotten the old. */
  name: string;
  /** Wall-clock time in ms. */
  readonly firstAt: number;
  lastAt: number;
  /** Monotonic time in ms. */
  lastSeen: number;
  count: number;
  /** The count that the server has; 0: the event was not written. */
  sentCount: number;
}
