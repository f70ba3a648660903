import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { HandlerRegistration } from './index.js';
import { createSharedInformer } from './index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing: KubeObject = { metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion: '1' } };

/** An informer that has synced, with a handler that waits for `after`. */
async function start(
  after: Promise<unknown>,
): Promise<{ readonly handler: HandlerRegistration; readonly heard: unknown[]; readonly stop: () => Promise<void> }> {
  const informer = createSharedInformer<KubeObject>({
    kind: Thing,
    listerWatcher: {
      supportsWatchList: false,
      list: () => Promise.resolve({ metadata: { resourceVersion: '10' }, items: [thing] }),
      watch: () => new Promise(() => undefined),
    },
  });
  const heard: unknown[] = [];
  const handler = informer.addEventHandler({ onAdd: ({ metadata }) => void heard.push(metadata.name) }, { after });
  const stopping = new AbortController();
  const run = informer.run(stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort();
    return run;
  };
  await informer.waitForSync();
  await settle();
  return { handler, heard, stop };
}

describe('a handler that comes after something', () => {
  it.each([
    ['is done', (end: PromiseWithResolvers<undefined>) => end.resolve(undefined)],
    ['has failed', (end: PromiseWithResolvers<undefined>) => end.reject(new Error('what went before'))],
  ])('hears of nothing before that %s', async (_how, settleIt) => {
    const before = Promise.withResolvers<undefined>();
    const { handler, heard, stop } = await start(before.promise);
    expect([heard, handler.pending, handler.hasSynced]).toEqual([[], 1, false]);
    settleIt(before);
    await handler.waitForSync();
    expect(heard).toEqual(['x']);
    await stop();
  });

  it('holds up neither its removal nor the end of the informer', async () => {
    const { handler, heard, stop } = await start(new Promise(() => undefined));
    await handler.remove();
    await stop();
    expect(heard).toEqual([]);
    const other = await start(new Promise(() => undefined));
    await other.stop();
    expect(other.heard).toEqual([]);
  });
});
