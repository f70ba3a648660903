import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import type { ListFrames, WatchEvent } from '@kctl/client';
import { noopLogger } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { FrameListerWatcher, ObjectListerWatcher } from './index.js';
import { createSharedInformer } from './index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (resourceVersion: string, data: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion, annotations: { data } },
});

/** Lists one thing, then says that it was deleted. */
const list = { metadata: { resourceVersion: '10' }, items: [thing('9', 'secret')] };
const deleted: WatchEvent<KubeObject> = { type: 'DELETED', object: thing('11', 'broken') };

/** A stream that says one thing, and nothing more until it is aborted. */
function streamOf<E>(value: E, signal: AbortSignal | undefined): AsyncIterable<E> & AsyncDisposable {
  return {
    async *[Symbol.asyncIterator]() {
      yield value;
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

const objects: ObjectListerWatcher<KubeObject> = {
  supportsWatchList: false,
  list: async () => structuredClone(list),
  watch: async ({ signal }) => streamOf(structuredClone(deleted), signal),
};

const frames: FrameListerWatcher = {
  supportsWatchList: false,
  listFrames: async (): Promise<ListFrames> => ({
    async *[Symbol.asyncIterator]() {
      yield list.items.map(bytesOf);
    },
    [Symbol.asyncDispose]: async () => undefined,
    metadata: Promise.resolve(list.metadata),
  }),
  watchFrames: async ({ signal }) => streamOf([bytesOf(deleted)], signal),
};

describe('a deletion of which the transform throws', () => {
  it.each([
    ['objects', objects],
    ['bytes', frames],
  ])('counts, with what was kept of the version before: %s', async (_yields, listerWatcher) => {
    const logged: unknown[] = [];
    const informer = createSharedInformer<KubeObject>({
      kind: Thing,
      listerWatcher,
      transform: (object) => {
        if (object.metadata.annotations?.['data'] === 'broken') throw new Error('the transform');
        return { ...object, metadata: { ...object.metadata, annotations: { data: 'kept' } } };
      },
      logger: { ...noopLogger, error: (message, fields) => void logged.push([message, fields?.['error']]) },
    });
    const heard: unknown[] = [];
    informer.addEventHandler({
      onDelete: ({ metadata }, info) => void heard.push([metadata.resourceVersion, metadata.annotations, info]),
    });
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await informer.waitForResourceVersion('11', { signal: AbortSignal.timeout(5000) });
    await settle();
    expect(informer.indexer.list()).toEqual([]);
    expect(heard).toEqual([['11', { data: 'kept' }, { finalStateUnknown: false, leftScope: false }]]);
    expect(logged).toEqual([
      ['the last version of a deleted object could not be transformed; it is skipped', new Error('the transform')],
    ]);
    stop.abort();
    await run;
  });
});
