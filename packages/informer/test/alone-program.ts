/** An informer as all that a process has, and nobody answers it: it ends when it has tried three times. */
import { defineKind } from '@kctl/apimachinery';
import { createSharedInformer } from '@kctl/informer';
import { systemClock } from '@kctl/wait';

const stop = new AbortController();
let attempts = 0;
const informer = createSharedInformer({
  kind: defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' }),
  listerWatcher: {
    supportsWatchList: false,
    list: () => {
      if (++attempts === 3) stop.abort();
      return Promise.reject(new Error('connect ECONNREFUSED'));
    },
    watch: () => Promise.reject(new Error('connect ECONNREFUSED')),
  },
  // A hundred times as fast.
  clock: {
    ...systemClock,
    setTimer: (callback, delayMs, options) => systemClock.setTimer(callback, delayMs / 100, options),
  },
});
await informer.run(stop.signal);
console.log(`ended after ${attempts} attempts`);
