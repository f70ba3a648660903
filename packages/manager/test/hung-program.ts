/** A manager whose reconcile hangs for ever, on nothing that holds the process. */
import { createController, funcSource } from '@kctl/controller';
import { createManager } from '../src/index.js';
import { fakeCluster } from './fakes.js';

const stop = new AbortController();
const manager = createManager({ cluster: fakeCluster(), gracefulShutdownTimeoutMs: 50 });
const controller = createController({
  name: 'hung',
  reconciler: () => {
    stop.abort();
    return new Promise(() => undefined);
  },
});
controller.watch(
  funcSource('one', ({ queue }) => {
    queue.add({ name: 'hangs' });
    return undefined;
  }),
);
manager.add(controller);
await manager.run(stop.signal).catch((error: unknown) => console.log(error instanceof Error ? error.message : error));
