import { expect, it } from 'vitest';
import { statusOf } from './decoder.js';

it('keeps of an ERROR event what a Status has, and nothing of a Secret', () => {
  const status = { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' };
  expect(statusOf({ ...status, data: { password: 'hunter2' } })).toEqual(status);
});

it.each([
  ['hunter2', 'an ERROR event without a status, but a string of 7 characters'],
  [5, 'an ERROR event without a status'],
  [null, 'an ERROR event without a status'],
  [['hunter2'], 'an ERROR event without a status'],
  [undefined, 'an ERROR event without a status'],
])('reports of the ERROR event %j no more than its length', (value, message) => {
  expect(statusOf(value)).toEqual({ kind: 'Status', status: 'Failure', reason: 'InternalError', code: 500, message });
});
