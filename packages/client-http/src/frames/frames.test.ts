import { describe, expect, it } from 'vitest';
import { ByteStream } from '../bytes/byte-stream.js';
import { frameStream } from './frames.js';

function open() {
  const aborted: Error[] = [];
  const source = {
    pause: () => undefined,
    resume: () => undefined,
    abort: (reason: Error) => void aborted.push(reason),
  };
  const body = new ByteStream(source, () => undefined);
  const frames = frameStream(body, 'test')[Symbol.asyncIterator]();
  return { body, frames, aborted };
}

const textsOf = ({ value }: IteratorResult<readonly Uint8Array[], unknown>): string[] | undefined =>
  Array.isArray(value) ? value.map((frame: Uint8Array) => Buffer.from(frame).toString()) : undefined;

describe('frames of a body', () => {
  it('answers calls in their order, also when several wait', async () => {
    const { body, frames } = open();
    const calls = [frames.next(), frames.next(), frames.next()];
    body.push(Buffer.from('{"n":1}\n{"n":'));
    await calls[0];
    const late = frames.next();
    body.push(Buffer.from('2}\n'));
    await calls[1];
    body.push(Buffer.from('{"n":3}\n'));
    body.end();
    expect((await Promise.all([...calls, late])).map(textsOf)).toEqual([
      ['{"n":1}'],
      ['{"n":2}'],
      ['{"n":3}'],
      undefined,
    ]);
    expect(await frames.next()).toEqual({ done: true, value: undefined });
  });

  it('goes on reading where a chunk ends no frame, and has ended for good after a failure', async () => {
    const { body, frames } = open();
    const next = frames.next();
    for (const part of ['{"n"', ':1', '}\n']) {
      body.push(Buffer.from(part));
      await Promise.resolve();
    }
    expect(textsOf(await next)).toEqual(['{"n":1}']);
    const failing = frames.next();
    body.fail(new Error('torn'));
    await expect(failing).rejects.toThrow('torn');
    expect(await frames.next()).toEqual({ done: true, value: undefined });
  });

  it('releases the body when the iteration is left, also while a read waits', async () => {
    const { frames, aborted } = open();
    const waiting = frames.next();
    waiting.catch(() => undefined);
    expect(await frames.return?.()).toEqual({ done: true, value: undefined });
    await expect(waiting).rejects.toThrow('not read to its end');
    expect(aborted).toHaveLength(1);
    expect(await frames.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects once where the body ends within a frame', async () => {
    const { body, frames } = open();
    const next = frames.next();
    body.push(Buffer.from('{"n":'));
    body.end();
    await expect(next).rejects.toThrow('test: the stream ended within an event (5 bytes of it)');
    expect(await frames.next()).toEqual({ done: true, value: undefined });
  });
});
