/** A cache as all that a process has: first without a kind, then with one whose server is down. */
import { defineKind } from '@kctl/apimachinery';
import { createCache } from '@kctl/cache';
import { systemClock } from '@kctl/wait';

const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
const stop = new AbortController();
let attempts = 0;
const refuse = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));
const cache = createCache({
  client: { get: refuse, list: refuse, watch: refuse },
  listerWatcherFor: () => ({
    supportsWatchList: false,
    list: () => {
      if (++attempts === 3) stop.abort();
      return refuse();
    },
    watch: refuse,
  }),
  // A hundred times as fast.
  clock: {
    ...systemClock,
    setTimer: (callback, delayMs, options) => systemClock.setTimer(callback, delayMs / 100, options),
  },
});
systemClock.setTimer(() => cache.informerFor(Pod), 50, { keepAlive: false });
await cache.run(stop.signal);
console.log(`ended after ${attempts} attempts`);
