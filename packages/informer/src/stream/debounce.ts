import type { KubeObject } from '@kctl/apimachinery';
import type { Clock } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { InformerEvent } from '../handlers/event.js';
import { PendingEvents } from './pending-events.js';

/** Hands on the events of an object, merged, when none has come for `quietMs`; all that is left when the events end. */
export async function* debounced<T extends KubeObject>(
  events: AsyncGenerator<InformerEvent<T>, void>,
  { quietMs, clock, signal }: { readonly quietMs: number; readonly clock: Clock; readonly signal: AbortSignal },
): AsyncGenerator<InformerEvent<T>, void> {
  const held = new PendingEvents<T>();
  /** When each object is due, the next one first. */
  const dueAt = new Map<string, number>();
  let coming = next(events);
  try {
    for (;;) {
      const result = await nextWithin(coming, { untilMs: firstOf(dueAt), clock });
      if (result?.done === true) break;
      if (result !== undefined) {
        const { value: event } = result;
        held.put(event);
        dueAt.delete(event.key);
        dueAt.set(event.key, clock.monotonicNow() + quietMs);
        coming = next(events);
      }
      for (const key of dueKeys(dueAt, clock.monotonicNow())) {
        dueAt.delete(key);
        yield* held.takeAll(key);
      }
    }
    if (!signal.aborted) for (const key of dueAt.keys()) yield* held.takeAll(key);
  } finally {
    await events.return();
  }
}

/** The next event. How it fails is seen when it is waited for; until then a reader may be busy, or have left. */
function next<E>(events: AsyncGenerator<E, void>): Promise<IteratorResult<E, void>> {
  const coming = events.next();
  coming.catch(() => undefined);
  return coming;
}

/** The next event; undefined if the time is reached first. */
async function nextWithin<R>(
  coming: Promise<R>,
  { untilMs, clock }: { readonly untilMs: number | undefined; readonly clock: Clock },
): Promise<R | undefined> {
  if (untilMs === undefined) return await coming;
  const due = Promise.withResolvers<undefined>();
  const timer = startTimer(clock, () => due.resolve(undefined), untilMs - clock.monotonicNow());
  try {
    return await Promise.race([coming, due.promise]);
  } finally {
    timer.cancel();
  }
}

function firstOf(dueAt: ReadonlyMap<string, number>): number | undefined {
  const [first] = dueAt.values();
  return first;
}

/** Each was put at the end when its time was set, so the times ascend. */
function dueKeys(dueAt: ReadonlyMap<string, number>, now: number): string[] {
  const due: string[] = [];
  for (const [key, at] of dueAt) {
    if (at > now) break;
    due.push(key);
  }
  return due;
}
