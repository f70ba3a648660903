import { expect, it } from 'vitest';
import type { ReplicaHost } from '../replica/replica-host.js';
import { keysLeftWaiting } from './queues.js';

/** A replica whose queue has so many keys waiting, and has begun so many reconciles, after each second. */
function replica(at: (second: number) => { readonly depth: number; readonly begun: number }) {
  const begun = new Map<string, number>();
  let second = 0;
  const host = {
    scope: {},
    begun,
    operator: {
      metrics: {
        export: () => {
          const now = at(second);
          begun.set('widget', now.begun);
          return Promise.resolve({ body: `workqueue_depth{name="widget",priority="0"} ${now.depth}` });
        },
      },
    },
  } as unknown as ReplicaHost;
  const sleep = (ms: number): Promise<void> => {
    second += ms / 1000;
    return Promise.resolve();
  };
  return { problem: keysLeftWaiting(host, sleep), waited: () => second };
}

it('names keys that wait while nothing is taken from their queue', async () => {
  const { problem, waited } = replica(() => ({ depth: 3, begun: 7 }));
  expect(await problem).toContain('3 in the queue "widget"');
  expect(waited()).toBe(90);
});

it('takes a backlog that is worked off, one key in 40 s, for none', async () => {
  const { problem } = replica((second) => ({ depth: Math.max(0, 4 - Math.floor(second / 40)), begun: 0 }));
  expect(await problem).toBeUndefined();
});

it('takes a queue to which keys come as fast as they are taken for none', async () => {
  const { problem } = replica((second) => ({ depth: 1, begun: Math.floor(second / 40) }));
  expect(await problem).toBeUndefined();
});
