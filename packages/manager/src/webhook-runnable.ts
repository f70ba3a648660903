import type { WebhookServer } from '@kctl/webhook';
import type { Clock } from '@kctl/wait';
import { sleep } from '@kctl/wait';
import type { Runnable } from './runnable.js';

const pollMs = 10;

/** A webhook server as a runnable. Ready once it serves, so that caches may then depend on its conversions. */
export function webhookRunnable(server: WebhookServer, clock: Clock): Runnable {
  return {
    name: 'webhook server',
    group: 'webhooks',
    run: (signal) => server.run(signal),
    accessNeeds: () => server.accessNeeds?.() ?? [],
    waitForReady: async (signal) => {
      while (server.port === undefined && server.isDisabled !== true) await sleep(pollMs, { clock, signal });
    },
  };
}
