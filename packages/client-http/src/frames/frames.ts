import { typedStatus } from '@kctl/apimachinery/internal';
import { createLineSplitter, framesOfLine, splitDocuments } from '@kctl/apimachinery/internal/wire';
import type { Kind, PersistedObject, PartialObjectMetadata, Status } from '@kctl/apimachinery';
import type { FrameOptions, FrameStream, WatchEvent, WatchStream } from '@kctl/client';
import { chunkReleaser } from '../bytes/chunk-releaser.js';
import type { ChunkReleaser } from '../bytes/chunk-releaser.js';
import { asObject, decodeBytes, refuseOther } from '../bytes/codec.js';
import { DecodeError } from '../errors.js';
import { leavable } from '../bytes/leavable.js';
import { isStatus } from '../transport/failure-status.js';

/**
 * Splits a watch body at its newlines. The frames of one read are returned as one batch. The connection is released
 * when the iteration is left. A body that ends within a frame rejects, because that event is lost and the caller must
 * list.
 */
export function frameStream(body: AsyncIterable<Buffer[]>, what: string, options: FrameOptions = {}): FrameStream {
  const frames = new LineFrames(body, what, chunkReleaser(body, options));
  return {
    [Symbol.asyncIterator]: () => frames,
    [Symbol.asyncDispose]: async () => {
      await frames.return();
    },
  };
}

/** Ends a body that may or may not be iterated, also while a read waits. */
async function release(body: AsyncIterable<Buffer[]>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

type Frames = IteratorResult<readonly Uint8Array[], undefined>;

const noFrames: Frames = { done: true, value: undefined };

/**
 * The equivalent of a generator over the body, with one promise for each batch instead of four. Between the socket and
 * the store of a quiet watch, promises are a large part of the cost of an event.
 */
class LineFrames implements AsyncIterator<readonly Uint8Array[], undefined> {
  readonly #body: AsyncIterable<Buffer[]>;
  readonly #what: string;
  readonly #releaser: ChunkReleaser;
  readonly #splitter = createLineSplitter();
  #source: AsyncIterator<Buffer[], unknown> | undefined;
  #isDone = false;
  /** Calls that have not ended; each reads when the one before has. */
  #calls = 0;
  #last: Promise<Frames> | undefined;

  constructor(body: AsyncIterable<Buffer[]>, what: string, releaser: ChunkReleaser) {
    this.#body = body;
    this.#what = what;
    this.#releaser = releaser;
  }

  next(): Promise<Frames> {
    const isFirst = this.#calls++ === 0;
    this.#last = isFirst || this.#last === undefined ? this.#read() : this.#last.then(this.#read, this.#read);
    return this.#last;
  }

  async return(): Promise<Frames> {
    this.#isDone = true;
    await release(this.#body);
    return noFrames;
  }

  readonly #read = (): Promise<Frames> => {
    if (this.#isDone) {
      this.#calls--;
      return Promise.resolve(noFrames);
    }
    this.#source ??= this.#body[Symbol.asyncIterator]();
    return this.#source.next().then(this.#onRead, this.#onFailure);
  };

  readonly #onRead = (result: IteratorResult<Buffer[], unknown>): Frames | Promise<Frames> => {
    if (result.done === true) return this.#end();
    const chunks = result.value;
    const [only] = chunks;
    const lines =
      only !== undefined && chunks.length === 1
        ? this.#splitter.push(only)
        : chunks.flatMap((chunk) => this.#splitter.push(chunk));
    this.#releaser.took(chunks, lines.length);
    if (lines.length === 0) return this.#read();
    this.#calls--;
    return { done: false, value: lines };
  };

  readonly #onFailure = (error: unknown): never => {
    this.#isDone = true;
    this.#calls--;
    throw error;
  };

  #end(): Frames {
    this.#isDone = true;
    this.#calls--;
    const rest = this.#splitter.finish();
    if (rest === undefined) return noFrames;
    if (!splitDocuments(rest).every(isJson))
      throw new DecodeError(`${this.#what}: the stream ended within an event (${rest.length} bytes of it)`);
    return { done: false, value: [rest] };
  }
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
export function watchStream<K extends Kind>(
  kind: K,
  frames: FrameStream,
  what: string,
): WatchStream<PersistedObject<K>> {
  const dispose = (): Promise<void> => Promise.resolve(frames[Symbol.asyncDispose]());
  const events = leavable(decodeEvents(kind, frames, what), dispose);
  const leave = async (): Promise<void> => void (await events.return?.());
  return { [Symbol.asyncIterator]: () => events, [Symbol.asyncDispose]: leave };
}

async function* decodeEvents<K extends Kind>(
  kind: K,
  frames: FrameStream,
  what: string,
): AsyncGenerator<WatchEvent<PersistedObject<K>>, void, undefined> {
  for await (const batch of frames) {
    for (const line of batch) for (const frame of framesOfLine(line)) yield decodeEvent(kind, frame, what);
  }
}

function decodeEvent<K extends Kind>(kind: K, frame: Uint8Array, what: string): WatchEvent<PersistedObject<K>> {
  const value = decodeBytes(frame, what);
  if (!isFrame(value)) throw new DecodeError(`${what}: a frame is not a watch event`);
  switch (value.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: value.type, object: asObject(kind, value.object, what) };
    case 'BOOKMARK':
      return bookmark(kind, value.object, what);
    case 'ERROR':
      return { type: 'ERROR', status: asStatus(value.object) };
    default:
      throw new DecodeError(`${what}: a frame has an event type that is not known`);
  }
}

/** A bookmark of another kind would end the initial events of another kind, so none of it counts. */
function bookmark(kind: Kind, object: unknown, what: string): WatchEvent<never> {
  if (!hasMetadata(object)) throw new DecodeError(`${what}: a bookmark has no metadata`);
  refuseOther(kind, object, what, 'a bookmark');
  const { resourceVersion, annotations } = object.metadata;
  const initialEventsEnd = annotations?.['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion: resourceVersion ?? '', initialEventsEnd };
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
