import type { Timeline } from '../recording/cycle.js';

/** A run that is longer than this is named, in ms. */
export const longRunMs = 60_000;

/** The remedy for a failure, based on its record. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /\b403 Forbidden\b/,
    'A right is missing: see Rights; npx kctl generate rbac writes what for, owns, watches and needs declare.',
  ],
  [
    /\b409 Conflict\b/,
    'The object has changed since it was read: read it again before the update, or write by server-side apply.',
  ],
  [/\b422 Invalid\b/, 'The API server refuses what the reconciler writes: see the fields that are named.'],
  [
    /\b404 NotFound\b/,
    'Something that the reconciler reads or writes is not there: is its CRD installed, its namespace present?',
  ],
  [/\b429\b/, 'The API server is overloaded, or a budget refuses: fewer requests per run, or a longer interval.'],
  [
    /\[KCTL_RECONCILE_TIMEOUT\]/,
    'The run has passed its time limit: give the signal of the context to everything that waits.',
  ],
  [
    /\[(?:ECONN\w+|ENOTFOUND|ETIMEDOUT|UND_ERR_\w+)\]/,
    'A connection has failed: is what the reconciler calls reachable?',
  ],
  [/^ReconcilePanicError\b/, 'The reconciler throws where it should reject: see the line that is named.'],
];

/** The remedy for a key; undefined if nothing is to be done. */
export function advise(
  timeline: Timeline,
  { state, now }: { readonly state: string; readonly now: number },
): string | undefined {
  if (state === 'looping')
    return 'It wakes itself: compare the events below with the writes of the run before. Write only what differs (applyIfChanged), or watch with generationChanged().';
  const { active, lastFailure } = timeline;
  if (active !== undefined && now - active.startedAt > longRunMs)
    return 'The run does not end: give the signal of the context and a deadline to what it waits for, or set reconciliationTimeoutMs.';
  if (state !== 'failing') return undefined;
  if (lastFailure === undefined) return 'It asks for back-off each time: what it waits for does not become so.';
  return (
    remedies.find(([pattern]) => pattern.test(lastFailure))?.[1] ??
    'The log has the message: search for the reconcileID of the last run.'
  );
}
