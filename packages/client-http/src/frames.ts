import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Kind, ObjectOf, PartialObjectMetadata, Status } from '@kctl/apimachinery';
import type { FrameStream, WatchEvent, WatchStream } from '@kctl/client';
import { asObject, decodeJson } from './codec.js';
import { DecodeError } from './errors.js';
import { isStatus } from './failure-status.js';

const newline = 10;

/**
 * Splits a watch body at its newlines. What came with one read comes out as one batch. The connection is released
 * when the iteration is left. A body that ends within a frame rejects: that event is lost, so the caller must list.
 */
export function frameStream(body: AsyncIterable<Buffer[]>, what: string): FrameStream {
  const frames = splitLines(body, what);
  return {
    [Symbol.asyncIterator]: () => frames,
    [Symbol.asyncDispose]: async () => {
      await release(body);
    },
  };
}

/** Ends a body that may or may not be iterated, also while a read waits. */
async function release(body: AsyncIterable<Buffer[]>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

async function* splitLines(body: AsyncIterable<Buffer[]>, what: string): AsyncGenerator<readonly Uint8Array[], void> {
  let partial: Buffer[] = [];
  for await (const chunks of body) {
    const lines: Uint8Array[] = [];
    for (const chunk of chunks) partial = cutLines(chunk, partial, lines);
    if (lines.length > 0) yield lines;
  }
  const rest = Buffer.concat(partial);
  if (rest.toString().trim() === '') return;
  if (!isJson(rest)) throw new DecodeError(`${what}: the stream ended within an event (${rest.length} bytes of it)`);
  yield [rest];
}

/** Appends the whole lines of `partial + chunk` to `lines`; what is left is the new partial line. */
function cutLines(chunk: Buffer, partial: Buffer[], lines: Uint8Array[]): Buffer[] {
  let start = 0;
  for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
    const tail = chunk.subarray(start, end);
    const line = partial.length === 0 ? tail : Buffer.concat([...partial, tail]);
    partial = [];
    start = end + 1;
    if (line.length > 1) lines.push(line);
  }
  if (start < chunk.length) partial.push(chunk.subarray(start));
  return partial;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

/** Decodes the frames of a watch. */
export function watchStream<K extends Kind>(kind: K, frames: FrameStream): WatchStream<ObjectOf<K>> {
  const events = decodeEvents(kind, frames);
  return { [Symbol.asyncIterator]: () => events, [Symbol.asyncDispose]: () => frames[Symbol.asyncDispose]() };
}

async function* decodeEvents<K extends Kind>(
  kind: K,
  frames: FrameStream,
): AsyncGenerator<WatchEvent<ObjectOf<K>>, void> {
  for await (const batch of frames) {
    for (const frame of batch) yield decodeEvent(kind, frame);
  }
}

function decodeEvent<K extends Kind>(kind: K, frame: Uint8Array): WatchEvent<ObjectOf<K>> {
  const what = `watch of ${formatGroupVersionKind(kind)}`;
  const value = decodeJson(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString(), what);
  if (!isFrame(value)) throw new DecodeError(`${what}: a frame is no watch event`);
  switch (value.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: value.type, object: asObject(kind, value.object) };
    case 'BOOKMARK':
      return bookmark(value.object, what);
    case 'ERROR':
      return { type: 'ERROR', status: asStatus(value.object) };
    default:
      throw new DecodeError(`${what}: unknown event type ${JSON.stringify(value.type)}`);
  }
}

function bookmark(object: unknown, what: string): WatchEvent<never> {
  if (!hasMetadata(object)) throw new DecodeError(`${what}: a bookmark has no metadata`);
  const { resourceVersion = '', annotations = {} } = object.metadata;
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd: annotations['k8s.io/initial-events-end'] === 'true' };
}

function asStatus(object: unknown): Status {
  return isStatus(object)
    ? object
    : { status: 'Failure', reason: 'Unknown', message: 'the watch ended with an error that is no Status' };
}

function isFrame(value: unknown): value is { readonly type: string; readonly object: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    'object' in value
  );
}

function hasMetadata(value: unknown): value is PartialObjectMetadata {
  return (
    typeof value === 'object' &&
    value !== null &&
    'metadata' in value &&
    typeof value.metadata === 'object' &&
    value.metadata !== null
  );
}
