/** Clients that are not API servers, and hold what they can. */
import { expect, it } from 'vitest';
import { runAttack } from '../src/attack.js';
import { attackKinds } from '../src/attackers.js';

const limits = { maxConnections: 60 };

// No API server takes part: once is enough.
it
  .skipIf(process.env['KCTL_TEST_SERVER'] === 'real')
  .each(
    attackKinds.flatMap((attack) => (['HTTP/1.1', 'HTTP/2'] as const).map((protocol) => [attack, protocol] as const)),
  )('refuses no review while clients hold %s bodies (%s)', async (attack, protocol) => {
  const server = attack === 'connections' ? { limits } : {};
  const { refusals } = await runAttack({ attack: [attack], protocol, reviews: 200, server });
  expect(refusals).toEqual([]);
});
