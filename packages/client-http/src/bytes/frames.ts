import { formatGroupVersionKind, typedStatus } from '@kctl/apimachinery';
import { createLineSplitter, framesOfLine, splitDocuments } from '@kctl/apimachinery/wire';
import type { Kind, PersistedObject, PartialObjectMetadata, Status } from '@kctl/apimachinery';
import type { FrameOptions, FrameStream, WatchEvent, WatchStream } from '@kctl/client';
import { chunkReleaser } from './chunk-releaser.js';
import type { ChunkReleaser } from './chunk-releaser.js';
import { asObject, decodeBytes } from './codec.js';
import { DecodeError } from '../errors.js';
import { isStatus } from '../failure/failure-status.js';

/**
 * Splits a watch body at its newlines. What came with one read comes out as one batch. The connection is released
 * when the iteration is left. A body that ends within a frame rejects: that event is lost, so the caller must list.
 */
export function frameStream(body: AsyncIterable<Buffer[]>, what: string, options: FrameOptions = {}): FrameStream {
  const frames = splitLines(body, what, chunkReleaser(body, options));
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

async function* splitLines(
  body: AsyncIterable<Buffer[]>,
  what: string,
  releaser: ChunkReleaser,
): AsyncGenerator<readonly Uint8Array[], void> {
  const splitter = createLineSplitter();
  for await (const chunks of body) {
    const [only] = chunks;
    const lines =
      only !== undefined && chunks.length === 1 ? splitter.push(only) : chunks.flatMap((chunk) => splitter.push(chunk));
    releaser.took(chunks, lines.length);
    if (lines.length > 0) yield lines;
  }
  const rest = splitter.finish();
  if (rest === undefined) return;
  if (!splitDocuments(rest).every(isJson))
    throw new DecodeError(`${what}: the stream ended within an event (${rest.length} bytes of it)`);
  yield [rest];
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString());
    return true;
  } catch {
    return false;
  }
}

/** Decodes the frames of a watch. */
export function watchStream<K extends Kind>(kind: K, frames: FrameStream): WatchStream<PersistedObject<K>> {
  const events = decodeEvents(kind, frames);
  return { [Symbol.asyncIterator]: () => events, [Symbol.asyncDispose]: () => frames[Symbol.asyncDispose]() };
}

async function* decodeEvents<K extends Kind>(
  kind: K,
  frames: FrameStream,
): AsyncGenerator<WatchEvent<PersistedObject<K>>, void> {
  for await (const batch of frames) {
    for (const line of batch) for (const frame of framesOfLine(line)) yield decodeEvent(kind, frame);
  }
}

function decodeEvent<K extends Kind>(kind: K, frame: Uint8Array): WatchEvent<PersistedObject<K>> {
  const what = `watch of ${formatGroupVersionKind(kind)}`;
  const value = decodeBytes(frame, what);
  if (!isFrame(value)) throw new DecodeError(`${what}: a frame is not a watch event`);
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
      throw new DecodeError(`${what}: a frame has an event type that is not known`);
  }
}

function bookmark(object: unknown, what: string): WatchEvent<never> {
  if (!hasMetadata(object)) throw new DecodeError(`${what}: a bookmark has no metadata`);
  const { resourceVersion = '', annotations = {} } = object.metadata;
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd: annotations['k8s.io/initial-events-end'] === 'true' };
}

function asStatus(object: unknown): Status {
  return isStatus(object)
    ? typedStatus(object)
    : { status: 'Failure', reason: 'Unknown', message: 'the watch ended with an error that is not a Status' };
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
