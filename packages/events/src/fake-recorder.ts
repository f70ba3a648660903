import { requireOptions, textOption } from '@kctl/options';
import { orAborted } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import { toRecordedEvent } from './event.js';
import type { EventRecorder, RecordedEvent } from './event.js';

/** Options of {@link createFakeRecorder}. */
export interface FakeRecorderOptions {
  /** The controller that the events name. @default 'fake-recorder' */
  readonly controller?: string;
  /** How many events are kept; the oldest one goes first. @default 1024 */
  readonly capacity?: number;
}

/** A recorder for tests, which keeps the recorded events and sends nothing. */
export interface FakeRecorder extends EventRecorder {
  /** Recorded events not yet taken by {@link next}, oldest first. */
  readonly events: readonly RecordedEvent[];
  /** The same as client-go's FakeRecorder writes it: `Warning FailedMount the volume is not there yet`. */
  readonly lines: readonly string[];
  /**
   * Takes the oldest event, waiting for one if necessary.
   *
   * @throws the signal's reason when it is or becomes aborted
   */
  next(options?: { readonly signal?: AbortSignal }): Promise<RecordedEvent>;
  /** Forgets what was recorded. */
  clear(): void;
}

const nextOptionNames: OptionNames<{ readonly signal?: AbortSignal }> = { signal: true };
const optionNames: OptionNames<FakeRecorderOptions> = { controller: textOption, capacity: true };

/**
 * Makes a recorder for tests of a reconciler. Unlike a broadcaster's recorder it throws for an invalid event, because a
 * test should fail when production would drop the event. Mirrors `record.NewFakeRecorder`.
 *
 * @throws TypeError for a capacity that is not an integer ≥ 1, and (from its methods) for an event that is not valid
 */
export function createFakeRecorder(options: FakeRecorderOptions = {}): FakeRecorder {
  requireOptions('createFakeRecorder', options, optionNames);
  const { controller = 'fake-recorder', capacity = 1024 } = options;
  if (!Number.isSafeInteger(capacity) || capacity < 1)
    throw new TypeError(`createFakeRecorder: capacity ${String(capacity)} is not valid: expected an integer ≥ 1`);
  const source = { controller, instance: controller };
  const events: RecordedEvent[] = [];
  let arrival: PromiseWithResolvers<void> = Promise.withResolvers();
  const event: EventRecorder['event'] = (regarding, details) => {
    events.push(toRecordedEvent(source, regarding, details));
    if (events.length > capacity) events.shift();
    arrival.resolve();
    arrival = Promise.withResolvers();
  };
  return {
    event,
    normal: (regarding, reason, note) => event(regarding, { type: 'Normal', reason, note }),
    warning: (regarding, reason, note) => event(regarding, { type: 'Warning', reason, note }),
    events,
    get lines() {
      return events.map(({ type, reason, note }) => `${type} ${reason} ${note}`);
    },
    next: async (given = {}) => {
      requireOptions('next', given, nextOptionNames);
      const { signal } = given;
      throwIfAborted(signal);
      for (;;) {
        const first = events.shift();
        if (first !== undefined) return first;
        await orAborted(arrival.promise, signal);
      }
    },
    clear: () => {
      events.length = 0;
    },
  };
}
