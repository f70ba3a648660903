// Process that survives a killed `kctl dev` and waits for the end of its input. `done` means that the command has
// exited in order. Without it, the process restores the changes of the command in a cluster, and removes its folder.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { GuardianOrders } from './start-guardian.js';

/** How long requests to an unresponsive cluster are retried, in ms. */
const giveUpAfterMs = 120_000;
const attemptMs = 10_000;

process.title = 'kctl dev: guardian';
// It ends with the command, in whatever way that ends, and not before.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

let orders: GuardianOrders | undefined;
let isDone = false;
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === 'done') {
    isDone = true;
    return;
  }
  try {
    // Only the command that started this process writes here.
    orders = JSON.parse(line) as GuardianOrders;
  } catch {
    // It was killed in the middle of a line, and has done nothing of it.
  }
});
await new Promise<void>((resolve) => lines.once('close', () => resolve()));
if (!isDone && orders !== undefined) {
  await restore(orders);
  rmSync(orders.folder, { recursive: true, force: true });
}
process.exit(0);

async function restore({ places, session, operator, cluster }: GuardianOrders): Promise<void> {
  if (cluster === undefined) return;
  // Loaded now, because most guardians never need it.
  const { openCluster } = await import('./cluster.js');
  const { deleteSession } = await import('./dev/dev-session.js');
  const { openDevRecord } = await import('./dev/dev-record.js');
  const { readPlaces, restoreOriginals } = await import('./dev/originals.js');
  const { sleep, systemClock } = await import('@kctl/wait');
  const record = openDevRecord(process.env);
  const deadline = systemClock.monotonicNow() + giveUpAfterMs;
  for (let pauseMs = 500; systemClock.monotonicNow() < deadline; pauseMs = Math.min(pauseMs * 2, 10_000))
    try {
      await using open = await openCluster(cluster);
      const signal = AbortSignal.timeout(attemptMs);
      await restoreOriginals({ err: () => undefined }, open, { places: readPlaces(places), session, record, signal });
      await deleteSession(open, { operator, session }, signal);
      return;
    } catch {
      // The network may be down while the machine sleeps, and no user reads a message.
      await sleep(pauseMs);
    }
}
