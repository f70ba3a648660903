import { expect, it } from 'vitest';
import type { InformerState, InformerTrouble } from './informer-state.js';
import { describeInformerState } from './informer-state.js';

const trouble: InformerTrouble = { reason: 'forbidden', message: 'no access', error: undefined };
const since = 1_000;

it.each<[InformerState, string, string]>([
  [{ phase: 'idle' }, 'it was not started', ''],
  [{ phase: 'starting', since }, 'it is starting since 2.5 s', ''],
  [
    { phase: 'listing', since, streaming: false, attempts: 0 },
    'it is listing since 2.5 s',
    ' because of forbidden: no access',
  ],
  [
    { phase: 'listing', since, streaming: true, attempts: 0 },
    'it is streaming the initial state since 2.5 s',
    ' because of forbidden: no access',
  ],
  [{ phase: 'watching', since, resourceVersion: '7' }, 'it is watching from version 7', ''],
  [
    { phase: 'retrying', since, attempts: 3, nextAttemptAt: 0, trouble },
    'it is retrying since 2.5 s (attempt 3)',
    ' because of forbidden: no access',
  ],
  [{ phase: 'stopped', since }, 'it has stopped', ' because of forbidden: no access'],
])('describes %o', (state, description, because) => {
  expect(describeInformerState(state, undefined, 3_500)).toBe(description);
  expect(describeInformerState(state, trouble, 3_500)).toBe(description + because);
});
