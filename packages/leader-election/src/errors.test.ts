import { expect, it } from 'vitest';
import {
  isLeadershipLost,
  isLeaseNotRenewed,
  isNotLeader,
  LeadershipLostError,
  LeaseNotRenewedError,
  NotLeaderError,
} from './errors.js';

const guards = { isLeadershipLost, isLeaseNotRenewed, isNotLeader };

it.each([
  [
    'isLeadershipLost',
    new LeadershipLostError('lease a/b'),
    'leader election lost: lease a/b could not be renewed in time',
  ],
  ['isLeaseNotRenewed', new LeaseNotRenewedError(7, 5, undefined), 'no renewal succeeded for 7 ms (renewDeadlineMs 5)'],
  ['isNotLeader', new NotLeaderError('lease a/b'), 'refused: this process does not hold lease a/b'],
] as const)('%s recognizes its error, of another copy of the package too, and nothing else', (name, error, message) => {
  expect(error.message).toBe(message);
  const copy = Object.assign(new Error(message), { code: error.code });
  const others = [new Error(message), { code: error.code }, Object.assign(new Error(message), { code: 'KCTL_OTHER' })];
  expect([error, copy].map((each) => guards[name](each))).toEqual([true, true]);
  expect([...others, null, undefined, error.code].map((each) => guards[name](each))).toEqual(Array(6).fill(false));
  for (const [other, guard] of Object.entries(guards)) expect([other, guard(error)]).toEqual([other, other === name]);
});

it('has a cause if a request failed, and none after a stall', () => {
  const cause = new Error('down');
  expect(new LeaseNotRenewedError(7, 5, cause).cause).toBe(cause);
  expect(new LeaseNotRenewedError(7, 5, undefined)).not.toHaveProperty('cause');
});
