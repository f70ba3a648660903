import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createSharedInformer } from './index.js';
import type { FrameListerWatcher } from './index.js';

interface Thing extends KubeObject {
  spec?: { size: number };
}
const Thing = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (name: string, rv: number, size = 0): Thing => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { namespace: 'a', name, uid: `u-${name}`, resourceVersion: String(rv), managedFields: [{ manager: 'x' }] },
  spec: { size },
});
const bytes = (v: unknown): Uint8Array => Buffer.from(JSON.stringify(v));

describe('smoke', () => {
  it('lists, watches and fans out', async () => {
    let push: (frames: unknown[]) => void = () => undefined;
    const lw: FrameListerWatcher = {
      supportsWatchList: false,
      listFrames: async () => ({
        async *[Symbol.asyncIterator]() {
          yield [bytes(thing('x', 1)), bytes(thing('y', 2))];
        },
        metadata: Promise.resolve({ resourceVersion: '2' }),
        [Symbol.asyncDispose]: async () => undefined,
      }),
      watchFrames: async () => ({
        async *[Symbol.asyncIterator]() {
          for (;;)
            yield await new Promise<Uint8Array[]>((r) => {
              push = (f) => r(f.map(bytes));
            });
        },
        [Symbol.asyncDispose]: async () => undefined,
      }),
    };
    const informer = createSharedInformer({ kind: Thing, listerWatcher: lw });
    const seen: string[] = [];
    const reg = informer.addEventHandler({
      onAdd: (o, i) => {
        seen.push(`add ${o.metadata.name} ${i.isInInitialList}`);
      },
      onUpdate: (o, n) => {
        seen.push(`update ${o.spec?.size}->${n.spec?.size}`);
      },
      onDelete: (o) => {
        seen.push(`delete ${o.metadata.name}`);
      },
    });
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await informer.waitForSync();
    await reg.waitForSync();
    await settle();
    push([{ type: 'MODIFIED', object: thing('x', 3, 7) }]);
    await settle();
    push([{ type: 'DELETED', object: thing('y', 4) }]);
    await settle();
    expect(seen).toEqual(['add x true', 'add y true', 'update 0->7', 'delete y']);
    expect(informer.lister.namespace('a').get('x')).toEqual({
      ...thing('x', 3, 7),
      metadata: { namespace: 'a', name: 'x', uid: 'u-x', resourceVersion: '3' },
    });
    expect(informer.resourceVersion).toBe('4');
    expect(informer.state.phase).toBe('watching');
    stop.abort();
    await run;
    expect(informer.state.phase).toBe('stopped');
  });
});
