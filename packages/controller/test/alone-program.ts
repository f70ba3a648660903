/** A controller with nothing to do as all that a process has. */
import { systemClock } from '@kctl/wait';
import { createController } from '../src/index.js';

const stop = new AbortController();
const controller = createController({ name: 'alone', reconciler: () => Promise.resolve(undefined) });
systemClock.setTimer(() => stop.abort(), 50, { keepAlive: false });
await controller.run(stop.signal);
console.log('ended');
