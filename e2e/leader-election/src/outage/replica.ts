/** One replica of an operator as users write it: a controller, a webhook that reads the cache, work on every replica. */
import { createInterface } from 'node:readline';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { controllerManagedBy, createConsoleLogger, createManager, webhookManagedBy } from '@kctl/runtime';
import { sleep } from '@kctl/wait';
import { sharedNow } from '../protocol.js';
import { limitsName, stateEveryMs, type ReplicaLine, type ReplicaSettings } from './protocol.js';

const settings = JSON.parse(process.env['REPLICA'] ?? '') as ReplicaSettings;
const { identity, namespace, certDir } = settings;
const host = '127.0.0.1';
const say = (line: ReplicaLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

let health = 0;
const logger = createConsoleLogger({
  write: (text) => {
    process.stderr.write(`${text}\n`);
    const { msg, name, addr } = JSON.parse(text) as { msg: string; name?: string; addr?: { port: number } };
    if (msg === 'starting server' && name === 'health probe') health = addr?.port ?? 0;
  },
});
const manager = await createManager({
  connection: { server: settings.server, ca: settings.ca, user: { token: settings.token } },
  logger,
  health: { host, port: 0 },
  webhook: { host, port: 0, certDir },
  cache: { defaultNamespaces: { [namespace]: {} } },
  // Everything else as it is by default: 15 s, 10 s, 2 s, and a lost lease in an outage is no reason to exit.
  leaderElection: { name: 'outage', namespace, identity },
});

controllerManagedBy(manager)
  .for(ConfigMap)
  .complete(async ({ name }) => {
    say({ what: 'reconciled', at: sharedNow(), name, isLeader: manager.isLeader });
  });

webhookManagedBy(manager, ConfigMap)
  .withValidator({
    validateCreate: async (object) => {
      const limits = await manager.client.get(ConfigMap, { namespace, name: limitsName });
      const most = Number(limits.data?.['entries']);
      const entries = Object.keys(object.data ?? {}).length;
      if (entries > most) throw new Error(`${entries} entries are more than ${most}`);
      return undefined;
    },
  })
  .complete();

let ticks = 0;
manager.add({
  name: 'everywhere',
  needLeaderElection: false,
  run: async (signal) => {
    while (!signal.aborted) {
      ticks++;
      const cached = await manager.client.list(ConfigMap, { namespace });
      const names = cached.items.map(({ metadata }) => metadata.name);
      say({ what: 'state', at: sharedNow(), isLeader: manager.isLeader, ticks, cached: names });
      await sleep(stateEveryMs, { signal }).catch(() => undefined);
    }
  },
});

const stop = new AbortController();
const commands = createInterface({ input: process.stdin });
// The harness has ended: nothing else would stop this process.
commands.on('close', () => process.exit(3));
commands.on('line', () => stop.abort());

const running = manager.run(stop.signal);
manager.elected.catch(() => undefined); // it ends as a standby
void running.catch(() => undefined);
while (health === 0 || manager.webhookServer.port === undefined) await sleep(20);
say({ what: 'serving', health, webhook: manager.webhookServer.port });
await running;
process.exit(0);
