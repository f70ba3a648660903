import { withPoolOf } from '@kctl/lifetime';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import { ByteStream } from '../src/bytes/byte-stream.js';
import { frameStream } from '../src/frames/frames.js';
import { listFrames } from '../src/frames/list-frames.js';

/** Pieces of a text, each in memory of its own. */
function chunksOf(text: string, size: number, allocate = Buffer.allocUnsafeSlow): Buffer[] {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = allocate(Math.min(size, bytes.length - at));
    bytes.copy(chunk, 0, at);
    chunks.push(chunk);
  }
  return chunks;
}

/** A body whose consumer always finds `perRead` chunks. */
function bodyOf(chunks: readonly Buffer[], perRead: number, isExclusive = true): ByteStream {
  const idle = { pause: () => undefined, resume: () => undefined, abort: () => undefined };
  const body = new ByteStream(idle, () => undefined, isExclusive);
  const { next } = body;
  let at = 0;
  body.next = () => {
    for (const chunk of chunks.slice(at, at + perRead)) body.push(chunk);
    at += perRead;
    if (at >= chunks.length) body.end();
    return next.call(body);
  };
  return body;
}

const sizes = [200, 30_000, 5, 90_000, 17_000, 1000, 300_000, 1, 20_000];
const documents = Array.from({ length: 60 }, (_, n) =>
  JSON.stringify({ n, pad: String(n % 10).repeat(sizes[n % sizes.length] ?? 0) }),
);
const freed = (chunks: readonly Buffer[]): number => chunks.filter(({ buffer }) => buffer.byteLength === 0).length;

// Node 24 and Node 26 cut small buffers from pools of these sizes; a program may choose another one.
describe.each([8, 64, 4096])('with a pool of %i KiB, the memory of chunks', (poolKiB) => {
  withPoolOf(poolKiB);

  it.each([1, 2, 5])('is freed behind a consumer of frames that keeps none, %i chunks at a time', async (perRead) => {
    const chunks = chunksOf(documents.map((document) => `${document}\n`).join(''), 64 * 1024);
    const seen: string[] = [];
    for await (const batch of frameStream(bodyOf(chunks, perRead), 'test', { transient: true }))
      for (const frame of batch) seen.push(Buffer.from(frame).toString());
    expect(seen).toEqual(documents);
    expect(freed(chunks)).toBeGreaterThan(chunks.length - 2 * perRead - 6);
  });

  it.each([1, 3])('is freed behind a consumer of list items, %i chunks at a time', async (perRead) => {
    const chunks = chunksOf(`{"metadata":{},"items":[${documents.join(',')}]}`, 64 * 1024);
    const seen: string[] = [];
    for await (const batch of listFrames(bodyOf(chunks, perRead), { kind: Pod, what: 'test', transient: true }))
      for (const item of batch) seen.push(Buffer.from(item).toString());
    expect(seen).toEqual(documents);
    expect(freed(chunks)).toBeGreaterThan(chunks.length - 2 * perRead - 6);
  });

  it('is left alone as long as the connection may have more of it', async () => {
    const whole = Buffer.allocUnsafeSlow(100_000).fill('{"a":1}\n');
    const chunks = [whole.subarray(0, 8), whole.subarray(8, 50_000), whole.subarray(50_000)];
    let count = 0;
    for await (const batch of frameStream(bodyOf(chunks, 1), 'test', { transient: true })) count += batch.length;
    expect(count).toBe(12_500);
  });

  it.each([
    ['the consumer keeps what it got', {}, true],
    ['others may look at it', { transient: true }, false],
  ])('is left alone where %s', async (_, options, isExclusive) => {
    const chunks = chunksOf(documents.map((document) => `${document}\n`).join(''), 64 * 1024);
    const kept: Uint8Array[] = [];
    for await (const batch of frameStream(bodyOf(chunks, 1, isExclusive), 'test', options)) kept.push(...batch);
    expect(freed(chunks)).toBe(0);
    expect(kept.map((frame) => Buffer.from(frame).toString())).toEqual(documents);
  });

  it('is left alone where it is a pool that other buffers share', async () => {
    const chunks = chunksOf(documents.map((document) => `${document}\n`).join(''), 3 * 1024, Buffer.allocUnsafe);
    const other = Buffer.from('another one');
    const seen: string[] = [];
    for await (const batch of frameStream(bodyOf(chunks, 1), 'test', { transient: true }))
      for (const frame of batch) seen.push(Buffer.from(frame).toString());
    expect(seen).toEqual(documents);
    expect(freed(chunks)).toBe(0);
    expect(other.toString()).toBe('another one');
  });

  it('is left alone where it is small', async () => {
    const chunks = chunksOf(documents.map((document) => `${document}\n`).join(''), 8 * 1024);
    for await (const _ of frameStream(bodyOf(chunks, 1), 'test', { transient: true }));
    expect(freed(chunks)).toBe(0);
  });
});
