// What user-supplied parts return: each method of each part returns, throws and rejects with what its type does not allow.
// What reaches the user then, thrown, rejected or in a log line, names the part and the remedy; nothing hangs.
import { describe, expect, it } from 'vitest';
import { clients } from './foreign-parts/clients.js';
import { clocks } from './foreign-parts/clocks.js';
import { connections } from './foreign-parts/connections.js';
import { controllers } from './foreign-parts/controllers.js';
import { conversions } from './foreign-parts/conversions.js';
import { elections } from './foreign-parts/elections.js';
import { managers } from './foreign-parts/managers.js';
import { queues } from './foreign-parts/queues.js';
import { randoms } from './foreign-parts/randoms.js';
import { stores } from './foreign-parts/stores.js';
import { webhooks } from './foreign-parts/webhooks.js';
import { findingsOf } from './foreign-parts/play.js';

describe.each(
  Object.entries({
    queues,
    elections,
    controllers,
    clients,
    stores,
    managers,
    webhooks,
    ...{ conversions, clocks, connections, randoms },
  }),
)('what user-supplied parts return: %s', (_what, scenarios) => {
  it.each(scenarios.map((scenario) => ({ name: scenario.name, scenario })))(
    '$name',
    { timeout: 300_000 },
    async ({ scenario }) => {
      expect(await findingsOf(scenario)).toEqual([]);
    },
  );
});
