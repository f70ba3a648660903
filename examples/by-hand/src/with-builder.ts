// The operator with manager and builder.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createConsoleLogger,
  createManager,
  createOrUpdate,
  ignoreNotFound,
  setupSignalHandler,
} from '@kctl/runtime';
import { Greeting, shapeText } from './greeting.js';

const manager = await createManager({ logger: createConsoleLogger({ format: 'text', level: 'warn' }) });
controllerManagedBy(manager) // 1. sources, handlers, queue, workers
  .for(Greeting)
  .owns(ConfigMap)
  .complete(async (key, { signal }) => {
    const greeting = await ignoreNotFound(manager.client.get(Greeting, key, { signal })); // 2. read from the cache
    if (greeting === undefined) return;
    const { result } = await createOrUpdate(manager.client, ConfigMap, key, {
      signal,
      mutate: (draft) => shapeText(greeting, draft), // 3. write what differs
    });
    if (result !== 'unchanged') console.log(`${key.name}: ${result}`);
  });
await manager.run(setupSignalHandler()); // 4. start in order, stop in order
