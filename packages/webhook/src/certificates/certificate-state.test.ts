import { expect, it } from 'vitest';
import { nextState } from './certificate-state.js';

it('does not renew a certificate for an address with a zone, which it names without the zone', async () => {
  const day = 86_400_000;
  const validity = { authorityValidityMs: 10 * day, servingValidityMs: day, overlapMs: 1_000 };
  const policy = { name: 'hooks', dnsNames: ['fe80::1%eth0', 'hook.default.svc'], ...validity };
  const now = Date.parse('2026-01-02T03:04:05Z');
  const { state } = await nextState(undefined, policy, now);
  expect(await nextState(state, policy, now)).toEqual({ state, reason: undefined });
});
