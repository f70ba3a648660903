/** A manager without servers as all that a process has; nothing of it holds anything open. */
import { systemClock } from '@kctl/wait';
import { createManager } from '../src/index.js';
import { fakeCluster } from './fakes.js';

const stop = new AbortController();
const manager = createManager({ cluster: fakeCluster() });
manager.add({
  run: (signal) => {
    systemClock.setTimer(() => stop.abort(), 50, { keepAlive: false });
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  },
});
await manager.run(stop.signal);
console.log('ended');
