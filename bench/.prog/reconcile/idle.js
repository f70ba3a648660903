// An operator with a lease, probes, metrics and one controller that has no objects: idle.ts <server.json> [<seconds>]
import { defineKind } from '@kctl/runtime';
import { controllerManagedBy, createManager, noopLogger } from '@kctl/runtime';
import { printSample } from '../harness/measure.js';
import { cpuMs, residentBytes, rest } from '../informer/usage.js';
import { connectionTo, readServerInfo } from '../servers/server-info.js';
import { namespace } from './widget.js';

const [path = '', seconds = '5'] = process.argv.slice(2);
const LimitRange = defineKind({ group: '', version: 'v1', kind: 'LimitRange', scope: 'Namespaced' });
const manager = await createManager({
  connection: connectionTo(readServerInfo(path)),
  logger: noopLogger,
  health: { port: 0 },
  metricsServer: { port: 0 },
  // Of its own: one that was ended has not given its lease back.
  leaderElection: { name: `bench-idle-${process.pid}`, namespace },
});
controllerManagedBy(manager)
  .for(LimitRange)
  .complete(() => Promise.resolve());
const start = { wall: performance.now(), cpu: cpuMs() };
const stop = new AbortController();
const run = manager.run(stop.signal);
await Promise.race([manager.elected, run]);
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
const used = { wallMs: performance.now() - start.wall, cpuMs: cpuMs() - start.cpu };
await rest();
printSample({ ops: 1, ...used, ...{ idleMb: residentBytes() / 2 ** 20 } });
stop.abort();
await run;
