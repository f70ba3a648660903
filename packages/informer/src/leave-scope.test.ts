import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { systemClock } from '@kctl/wait';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ObjectListerWatcher } from './index.js';
import { createSharedInformer } from './index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (number: number): KubeObject => ({
  metadata: { namespace: 'a', name: `x${number}`, uid: `u${number}`, resourceVersion: '1' },
});

/** Lists `first`, then, when its watch is told that its version is gone, `second`. */
function server(
  first: readonly KubeObject[],
  second: readonly KubeObject[],
): { readonly listerWatcher: ObjectListerWatcher<KubeObject>; readonly expire: () => void } {
  const lists = [first, second];
  const gone = Promise.withResolvers<undefined>();
  let version = 10;
  const listerWatcher: ObjectListerWatcher<KubeObject> = {
    supportsWatchList: false,
    list: async () => ({ metadata: { resourceVersion: String(version++) }, items: [...(lists.shift() ?? second)] }),
    watch: async ({ signal }) => ({
      async *[Symbol.asyncIterator]() {
        await Promise.race([
          gone.promise,
          new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
        ]);
        yield { type: 'ERROR', object: { code: 410, reason: 'Expired' } } as never;
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
  return { listerWatcher, expire: () => gone.resolve(undefined) };
}

/** Every look at the time is a millisecond later: slices are short. */
function hastyClock(): typeof systemClock {
  let now = 0;
  return { ...systemClock, monotonicNow: () => now++ };
}

describe('leaveScope', () => {
  it('during a relist: each handler hears of the end of everything that it heard of, and of nothing else', async () => {
    const numbers = Array.from({ length: 2000 }, (_, number) => number);
    const { listerWatcher, expire } = server(
      numbers.filter((number) => number < 1200).map(thing),
      numbers.filter((number) => number >= 1000).map(thing),
    );
    const informer = createSharedInformer({ kind: Thing, listerWatcher, clock: hastyClock(), random: () => 0 });
    const known = new Set<string>();
    const wrong: string[] = [];
    let deletes = 0;
    const onFirstDelete = Promise.withResolvers<undefined>();
    const handler = informer.addEventHandler({
      onAdd: ({ metadata }) => {
        if (known.has(metadata.name ?? '')) wrong.push(`add ${metadata.name}`);
        known.add(metadata.name ?? '');
      },
      onDelete: ({ metadata }) => {
        if (!known.delete(metadata.name ?? '')) wrong.push(`delete ${metadata.name}`);
        if (++deletes === 1) onFirstDelete.resolve(undefined);
      },
    });
    const run = informer.run(new AbortController().signal);
    await handler.waitForSync();
    await settle();
    expire();
    await onFirstDelete.promise;
    await informer.leaveScope();
    await run;
    expect(wrong).toEqual([]);
    expect([...known]).toEqual([]);
  });

  it('before the run: lets go of who waits, and adds nobody', async () => {
    const { listerWatcher } = server([], []);
    const informer = createSharedInformer({ kind: Thing, listerWatcher });
    const handler = informer.addEventHandler({});
    const waits = [informer.waitForSync(), informer.waitForResourceVersion('1'), handler.waitForSync()];
    await informer.leaveScope();
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'KCTL_SYNC' });
    expect(() => informer.addEventHandler({})).toThrow('has stopped already');
  });
});
