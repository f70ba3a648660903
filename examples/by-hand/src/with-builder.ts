// The operator with manager and builder.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createConsoleLogger,
  createManager,
  createOrUpdate,
  setupSignalHandler,
} from '@kctl/runtime';
import { Greeting, shapeText } from './greeting.js';

const manager = await createManager({ logger: createConsoleLogger({ format: 'text', level: 'warn' }) });
controllerManagedBy(manager) // 1. sources, handlers, queue, workers
  .for(Greeting)
  .owns(ConfigMap)
  .reconcile(async (greeting, { client, signal }) => {
    // 2. read from the cache
    const { namespace, name } = greeting.metadata;
    const { result } = await createOrUpdate(
      client,
      ConfigMap,
      { namespace, name },
      {
        signal,
        mutate: (draft) => shapeText(greeting, draft), // 3. write what differs
      },
    );
    if (result !== 'unchanged') console.log(`${name}: ${result}`);
  });
await manager.run(setupSignalHandler()); // 4. start in order, stop in order
