// The operator of examples/application-operator as its own process, to be killed. Its watches are short, so that faults
// find new ones to strike.
import { createHttpClient, loadConnection } from '@kctl/client-http';
import { listerWatcherFor } from '@kctl/informer';
import { createConsoleLogger, setupSignalHandler, type Kind } from '@kctl/runtime';
import type { KubeObject } from '@kctl/apimachinery';
import type { ListerWatcher, ListerWatcherScope } from '@kctl/informer';
import { createOperator } from '@kctl/example-application-operator/operator.js';
import { createFileDirectory } from './file-directory.js';

const logger = createConsoleLogger({ format: 'text' });
const userAgent = process.env['CHAOS_USER_AGENT'] ?? 'chaos-operator';
const timeoutSeconds = Number(process.env['CHAOS_WATCH_SECONDS'] ?? 3);
const connection = await loadConnection();
const reader = createHttpClient({ connection, userAgent, logger });

function shortWatches<T extends KubeObject>(kind: Kind<T>, scope: ListerWatcherScope): ListerWatcher<T> {
  const inner = listerWatcherFor(reader, kind, scope);
  if (!('watchFrames' in inner)) return inner;
  return { ...inner, watchFrames: (call) => inner.watchFrames({ ...call, timeoutSeconds }) };
}

const manager = await createOperator(
  {
    connection,
    logger,
    http: { userAgent },
    cache: { listerWatcherFor: shortWatches },
    controllers: { maxConcurrentReconciles: 8 },
  },
  createFileDirectory(process.env['CHAOS_DIRECTORY'] ?? 'directory.jsonl'),
);
process.stdout.write('operator is starting\n');
await manager.run(setupSignalHandler());
await reader[Symbol.asyncDispose]();
