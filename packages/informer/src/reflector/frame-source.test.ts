import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { frameSource, objectSource } from './frame-source.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const done = { done: true, value: undefined };

/** A stream of values that notes how it ends; `isLeft`: whether its iterator can be left early. */
function streamOf<E>(
  values: readonly E[],
  isLeft = true,
): { readonly ends: string[]; readonly stream: AsyncIterable<E> & AsyncDisposable } {
  const ends: string[] = [];
  const left = values.values();
  const stream = {
    [Symbol.asyncIterator]: (): AsyncIterator<E> => ({
      next: () => Promise.resolve(left.next()),
      ...(isLeft && { return: () => Promise.resolve({ done: true as const, value: void ends.push('left') }) }),
    }),
    [Symbol.asyncDispose]: (): Promise<void> => Promise.resolve(void ends.push('released')),
  };
  return { ends, stream };
}

async function readAll<E>(iterator: AsyncIterator<E>): Promise<E[]> {
  const all: E[] = [];
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) all.push(next.value);
  expect(await iterator.next()).toEqual(done);
  return all;
}

const frame = (name: string): string => JSON.stringify({ type: 'MODIFIED', object: { metadata: { name } } });
const bytes = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));
const frames = (stream: AsyncIterable<readonly Uint8Array[]> & AsyncDisposable, metadata: Promise<object>) =>
  frameSource({
    listFrames: () => Promise.resolve(Object.assign(stream, { metadata: metadata as never })),
    watchFrames: () => Promise.resolve(stream),
  });

describe('frameSource', () => {
  it('hands on frames as they came, one for each line', async () => {
    const single = bytes(frame('a'), frame('b'));
    const { stream } = streamOf([single, bytes(`${frame('c')} ${frame('d')}`, frame('e'))]);
    const batches = await readAll((await frames(stream, Promise.resolve({})).watch({}))[Symbol.asyncIterator]());
    expect(batches[0]).toBe(single);
    expect(batches.map((batch) => batch.map((frame) => Buffer.from(frame).toString().trim()))).toEqual([
      [frame('a'), frame('b')],
      ['c', 'd', 'e'].map(frame),
    ]);
  });

  it.each([true, false])('leaves and releases the stream (iterator that can be left: %s)', async (isLeft) => {
    const { ends, stream } = streamOf([bytes('{}')], isLeft);
    const watch = await frames(stream, Promise.resolve({})).watch({});
    expect(await watch[Symbol.asyncIterator]().return?.()).toEqual(done);
    await watch[Symbol.asyncDispose]();
    expect(ends).toEqual(isLeft ? ['left', 'released'] : ['released']);
  });

  it.each([
    [
      { resourceVersion: '5', continue: 'c' },
      { resourceVersion: '5', continueToken: 'c' },
    ],
    [{}, { resourceVersion: '', continueToken: '' }],
    [
      { resourceVersion: 5, continue: null },
      { resourceVersion: '', continueToken: '' },
    ],
  ])('ends a list by its metadata %j', async (metadata, end) => {
    const { ends, stream } = streamOf([bytes('{}')]);
    const list = await frames(stream, Promise.resolve(metadata)).list({});
    expect(await readAll(list[Symbol.asyncIterator]())).toHaveLength(1);
    expect(await list.end()).toEqual(end);
    await list[Symbol.asyncDispose]();
    expect(ends).toEqual(['released']);
  });
});

describe('objectSource', () => {
  const objects = (stream: unknown, list: unknown = { metadata: {}, items: [] }) =>
    objectSource<KubeObject>(
      { list: () => Promise.resolve(list as never), watch: () => Promise.resolve(stream as never) },
      Thing,
    );

  it.each([true, false])('hands on events one by one, and leaves the stream (that can be left: %s)', async (isLeft) => {
    const { ends, stream } = streamOf([{ type: 'ADDED' }, { type: 'DELETED' }], isLeft);
    const watch = await objects(stream).watch({});
    const iterator = watch[Symbol.asyncIterator]();
    expect(await readAll(iterator)).toEqual([[{ type: 'ADDED' }], [{ type: 'DELETED' }]]);
    expect(await iterator.return?.()).toEqual(done);
    await watch[Symbol.asyncDispose]();
    expect(ends).toEqual(isLeft ? ['left', 'released'] : ['released']);
  });

  it('hands on the items of a list in one batch, then its end', async () => {
    const item = { metadata: { name: 'a' } };
    const list = await objects(undefined, { metadata: { resourceVersion: '7' }, items: [item] }).list({});
    expect(await readAll(list[Symbol.asyncIterator]())).toEqual([[item]]);
    expect(await list.end()).toEqual({ resourceVersion: '7', continueToken: '' });
    await list[Symbol.asyncDispose]();
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a function', () => undefined],
    ['an iterable that cannot be released', { [Symbol.asyncIterator]: () => undefined }],
    ['what is not iterable', { [Symbol.asyncDispose]: () => undefined }],
    ['members that are not functions', { [Symbol.asyncIterator]: 1, [Symbol.asyncDispose]: 1 }],
  ])('refuses %s in place of a stream', async (_what, stream) => {
    await expect(objects(stream).watch({})).rejects.toThrow('watch of the listerWatcher returned');
  });
});
