import { createHash } from 'node:crypto';
import type { Clock } from '@kctl/wait';
import type { EventReference, RecordedEvent } from './event.js';

/** Number of notes of otherwise equal events from which on events with further notes are combined. As in client-go. */
const maxNotes = 10;
/** Time without such an event after which notes are counted anew, in ms. As in client-go. */
const intervalMs = 10 * 60_000;

/** Which series an event belongs to. */
export interface Correlated {
  readonly key: string;
  /** Whether it stands for events with different notes, the latest of which it shows. */
  readonly isCombined: boolean;
}

/** Options of {@link createCorrelator}. */
export interface CorrelatorOptions {
  readonly clock: Clock;
  /** How many sources of notes are tracked; the least recently used one is dropped. */
  readonly capacity: number;
}

/** Groups events as client-go's `EventCorrelator` does. */
export interface Correlator {
  correlate(recorded: RecordedEvent): Correlated;
  /** Forgets what is too old to count. */
  sweep(): void;
}

interface Record {
  readonly notes: Set<string>;
  lastAt: number;
}

/**
 * Events that differ only in the note are separate events for nine notes within ten minutes; further notes share one
 * series, so that a controller that counts in its notes does not fill the server. Mirrors `EventAggregator` of
 * client-go's `tools/record`; its `PopAny` may forget any known note, here the first nine stay known.
 *
 * Notes are kept as hashes of 28 bytes each, at most nine for each source.
 */
export function createCorrelator({ clock, capacity }: CorrelatorOptions): Correlator {
  const records = new Map<string, Record>();
  return {
    correlate: (recorded) => {
      const key = happeningKey(recorded);
      const now = clock.monotonicNow();
      const known = records.get(key);
      const record =
        known === undefined || now - known.lastAt > intervalMs ? { notes: new Set<string>(), lastAt: now } : known;
      record.lastAt = now;
      records.delete(key);
      records.set(key, record);
      if (records.size > capacity) {
        const [oldest] = records.keys();
        if (oldest !== undefined) records.delete(oldest);
      }
      const note = createHash('sha1').update(recorded.note).digest('base64');
      if (!record.notes.has(note)) {
        if (record.notes.size + 1 >= maxNotes) return { key, isCombined: true };
        record.notes.add(note);
      }
      return { key: `${key} ${note}`, isCombined: false };
    },
    sweep: () => {
      const now = clock.monotonicNow();
      for (const [key, { lastAt }] of records) {
        if (now - lastAt <= intervalMs) return;
        records.delete(key);
      }
    },
  };
}

/**
 * Identity of an event apart from its note. As in client-go, except that object references count without their
 * resourceVersion, so an object that changes while it fails is still one series.
 */
function happeningKey(recorded: RecordedEvent): string {
  const { type, action, reason, controller, instance, regarding, related } = recorded;
  return JSON.stringify([
    type,
    action,
    reason,
    controller,
    instance,
    identity(regarding),
    related === undefined ? [] : identity(related),
  ]);
}

function identity({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
  fieldPath,
}: EventReference): readonly (string | undefined)[] {
  return [apiVersion, kind, namespace, name, uid, fieldPath];
}

/** The key of the spam filter. */
export function spamSource({ controller, instance, regarding, type }: RecordedEvent): string {
  return JSON.stringify([controller, instance, type, identity({ ...regarding, fieldPath: '' })]);
}
