import { defineKind } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { ByteStream } from '../src/bytes/byte-stream.js';
import { frameStream, watchStream } from '../src/frames/frames.js';
import { gunzip } from '../src/bytes/gunzip.js';
import { listFrames } from '../src/frames/list-frames.js';

const Thing = defineKind({ group: '', version: 'v1', kind: 'Thing', scope: 'Cluster' });

function open(): { readonly body: ByteStream; readonly aborted: Error[] } {
  const aborted: Error[] = [];
  const source = {
    pause: () => undefined,
    resume: () => undefined,
    abort: (reason: Error) => void aborted.push(reason),
  };
  return { body: new ByteStream(source, () => undefined), aborted };
}

/** Everything between a body and who reads it. */
const layers: readonly (readonly [string, (body: ByteStream) => AsyncIterable<unknown>])[] = [
  ['frames of a watch', (body) => frameStream(body, 'test')],
  ['events of a watch', (body) => watchStream(Thing, frameStream(body, 'test'), 'test')],
  ['frames of a list', (body) => listFrames(body, { kind: Thing, what: 'test' })],
  ['a compressed body', (body) => gunzip(body, (reason) => new Error(reason))],
  [
    'events of a compressed watch',
    (body) =>
      watchStream(
        Thing,
        frameStream(
          gunzip(body, (reason) => new Error(reason)),
          'test',
        ),
        'test',
      ),
  ],
  [
    'frames of a compressed list',
    (body) =>
      listFrames(
        gunzip(body, (reason) => new Error(reason)),
        { kind: Thing, what: 'test' },
      ),
  ],
];

describe.each(layers)('%s', (_, layer) => {
  it('lets go of the connection when it is left before it has begun', async () => {
    const { body, aborted } = open();
    await layer(body)[Symbol.asyncIterator]().return?.();
    expect(aborted).toHaveLength(1);
  });

  it('lets go of the connection when it is left while it waits', async () => {
    const { body, aborted } = open();
    const steps = layer(body)[Symbol.asyncIterator]();
    const waiting = steps.next();
    waiting.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await steps.return?.()).toEqual({ done: true, value: undefined });
    await expect(waiting).rejects.toThrow('not read to its end');
    expect(aborted).toHaveLength(1);
    expect(await steps.next()).toEqual({ done: true, value: undefined });
  });
});

it('settles the metadata of a list that was left before it was read', async () => {
  const list = listFrames(open().body, { kind: Thing, what: 'test' });
  await list[Symbol.asyncIterator]().return?.();
  await expect(list.metadata).rejects.toThrow('not read to its end');
});

it.each<[string, string, (body: ByteStream) => AsyncIterable<unknown> & AsyncDisposable]>([
  ['frames of a watch', '{"type":"ADDED"}\n{"type', (body) => frameStream(body, 'test')],
  [
    'events of a watch',
    '{"type":"ADDED","object":{"metadata":{}}}\n{"type',
    (body) => watchStream(Thing, frameStream(body, 'test'), 'test'),
  ],
  ['frames of a list', '{"items":[{"metadata":{}},{"meta', (body) => listFrames(body, { kind: Thing, what: 'test' })],
])('%s end where they are disposed of, also within a document', async (_, text, layer) => {
  const { body, aborted } = open();
  const stream = layer(body);
  const steps = stream[Symbol.asyncIterator]();
  body.push(Buffer.from(text));
  expect(await steps.next()).toMatchObject({ done: false });
  await stream[Symbol.asyncDispose]();
  expect(await steps.next()).toEqual({ done: true, value: undefined });
  expect(aborted).toHaveLength(1);
});
