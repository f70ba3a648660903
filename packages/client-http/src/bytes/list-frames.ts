import { createListSplitter, isFrameError } from '@kctl/apimachinery/wire';
import type { ListEnvelope, ListSplitter } from '@kctl/apimachinery/wire';
import type { Kind, KubeList, ListMeta, PersistedObject } from '@kctl/apimachinery';
import type { FrameOptions, ListFrames } from '@kctl/client';
import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { chunkReleaser } from './chunk-releaser.js';
import type { ChunkReleaser } from './chunk-releaser.js';
import { asItem, asList, decodeBytes, decodeJson, listMeta } from './codec.js';
import { DecodeError } from '../errors.js';
import { failureInBody } from '../failure/failure-status.js';
import { leavable } from './leavable.js';

/** Bodies up to this size are parsed in one go: faster, and too short to hold the event loop, in bytes. */
const smallBody = 256 * 1024;

/**
 * How long decoding may hold the event loop, in ms. Short, because a garbage collection may fall into the same turn: what
 * is read survives, so the collector has to copy it, for tens of ms at a time.
 */
const budgetMs = 3;

/**
 * The items of a LIST answer as documents, while it arrives. Reading pauses while the consumer is busy, and at most
 * about 256 KiB is handed over without a turn of the event loop in between.
 */
export function listFrames(body: AsyncIterable<Buffer[]>, what: string, options: FrameOptions = {}): ListFrames {
  const { promise, resolve, reject } = Promise.withResolvers<ListMeta>();
  promise.catch(() => undefined);
  const dispose = async (): Promise<void> => {
    await body[Symbol.asyncIterator]().return?.();
    reject(new DOMException('the list was not read to its end', 'AbortError'));
  };
  const items = cutItems(body, { what, releaser: chunkReleaser(body, options) }, { resolve, reject });
  const frames = leavable(items, dispose);
  const leave = async (): Promise<void> => void (await frames.return?.());
  return { metadata: promise, [Symbol.asyncIterator]: () => frames, [Symbol.asyncDispose]: leave };
}

interface Metadata {
  resolve(metadata: ListMeta): void;
  reject(error: unknown): void;
}

async function* cutItems(
  body: AsyncIterable<Buffer[]>,
  { what, releaser }: { readonly what: string; readonly releaser: ChunkReleaser },
  metadata: Metadata,
): AsyncGenerator<readonly Uint8Array[], void, undefined> {
  const splitter = createListSplitter();
  try {
    for await (const chunks of body) {
      const items = explained(what, () => chunks.flatMap((chunk) => splitter.push(chunk)));
      releaser.took(chunks, items.length);
      if (items.length > 0) yield items;
    }
    metadata.resolve(listMeta(explained(what, () => splitter.finish()).metadata));
  } catch (error) {
    metadata.reject(error);
    throw error;
  } finally {
    metadata.reject(new DOMException('the list was not read to its end', 'AbortError'));
  }
}

/**
 * Reads a LIST answer into objects. A large one is decoded item by item while it arrives, so that the event loop
 * turns in between, after 3 ms at the latest, and the text is never held as a whole.
 */
export async function readList<K extends Kind>(
  kind: K,
  body: AsyncIterable<Buffer[]>,
  what: string,
  clock: Clock = systemClock,
): Promise<KubeList<PersistedObject<K>>> {
  const start: Buffer[] = [];
  let size = 0;
  let splitter: ListSplitter | undefined;
  const items: PersistedObject<K>[] = [];
  const take = async (chunks: readonly Buffer[], into: ListSplitter): Promise<void> => {
    let until = clock.monotonicNow() + budgetMs;
    for (const chunk of chunks) {
      for (const item of explained(what, () => into.push(chunk))) {
        items.push(asItem(kind, decodeBytes(item, what)));
        if (clock.monotonicNow() < until) continue;
        await new Promise((resolve) => setImmediate(resolve));
        until = clock.monotonicNow() + budgetMs;
      }
    }
  };
  for await (const chunks of body) {
    if (splitter === undefined) {
      start.push(...chunks);
      for (const chunk of chunks) size += chunk.length;
      if (size <= smallBody) continue;
      splitter = createListSplitter();
      await take(start, splitter);
    } else await take(chunks, splitter);
  }
  if (splitter === undefined) {
    const value = decodeJson(Buffer.concat(start).toString(), what);
    const failure = failureInBody(value, kind);
    if (failure !== undefined) throw failure;
    return asList(kind, value);
  }
  const whole = splitter;
  return fromEnvelope(
    kind,
    explained(what, () => whole.finish()),
    items,
  );
}

function fromEnvelope<K extends Kind>(
  kind: K,
  { apiVersion, metadata }: ListEnvelope,
  items: PersistedObject<K>[],
): KubeList<PersistedObject<K>> {
  const empty = asList(kind, { apiVersion, metadata, items: [] });
  return { ...empty, items };
}

function explained<T>(what: string, cut: () => T): T {
  try {
    return cut();
  } catch (error) {
    if (!isFrameError(error)) throw error;
    throw new DecodeError(`${what}: cannot decode the answer: ${error.message}`, { cause: error });
  }
}
