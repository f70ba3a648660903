import {
  createListSplitter,
  createObjectScan,
  isFrameError,
  readAscii,
  scanObject,
  skipSpace,
} from '@kctl/apimachinery/internal/wire';
import type { ListSplitter } from '@kctl/apimachinery/internal/wire';
import type { Kind, KubeList, ListMeta, PersistedObject } from '@kctl/apimachinery';
import type { FrameOptions, ListFrames } from '@kctl/client';
import { systemClock } from '@kctl/wait';
import { Slicer } from '@kctl/wait/internal';
import type { Clock } from '@kctl/wait';
import { chunkReleaser } from '../bytes/chunk-releaser.js';
import type { ChunkReleaser } from '../bytes/chunk-releaser.js';
import {
  asItem,
  asList,
  decodeBytes,
  decodeJson,
  isOther,
  isUntyped,
  listMeta,
  listWith,
  refuseOtherList,
} from '../bytes/codec.js';
import { DecodeError } from '../errors.js';
import { failureInBody } from '../transport/failure-status.js';
import { leavable } from '../bytes/leavable.js';

/** Bodies up to this size are parsed in one go, which is faster and too short to block the event loop, in bytes. */
const smallBody = 256 * 1024;

/**
 * How long decoding may block the event loop, in ms. Short, because a garbage collection may fall into the same turn,
 * and the collector then has to copy the surviving data, for tens of ms at a time.
 */
const budgetMs = 3;

/**
 * The items of a LIST answer as documents, while it arrives. Reading pauses while the consumer is busy, and at most
 * about 256 KiB is handed over without a turn of the event loop in between.
 */
export function listFrames(
  body: AsyncIterable<Buffer[]>,
  { kind, what, ...options }: FrameOptions & ListedAs,
): ListFrames {
  const { promise, resolve, reject } = Promise.withResolvers<ListMeta>();
  promise.catch(() => undefined);
  const dispose = async (): Promise<void> => {
    await body[Symbol.asyncIterator]().return?.();
    reject(new DOMException('the list was not read to its end', 'AbortError'));
  };
  const items = cutItems(body, { kind, what, releaser: chunkReleaser(body, options) }, { resolve, reject });
  const frames = leavable(items, dispose);
  const leave = async (): Promise<void> => void (await frames.return?.());
  return { metadata: promise, [Symbol.asyncIterator]: () => frames, [Symbol.asyncDispose]: leave };
}

/** The subject of a list request. */
export interface ListedAs {
  readonly kind: Kind;
  /** The request, for errors. */
  readonly what: string;
}

interface Metadata {
  resolve(metadata: ListMeta): void;
  reject(error: unknown): void;
}

async function* cutItems(
  body: AsyncIterable<Buffer[]>,
  { kind, what, releaser }: ListedAs & { readonly releaser: ChunkReleaser },
  metadata: Metadata,
): AsyncGenerator<readonly Uint8Array[], void, undefined> {
  const splitter = createListSplitter();
  let count = 0;
  let untyped = 0;
  try {
    for await (const chunks of body) {
      const items = explained(what, () => chunks.flatMap((chunk) => splitter.push(chunk)));
      releaser.took(chunks, items.length);
      const [first] = items;
      if (count === 0 && first !== undefined && statesOther(kind, first)) untyped++;
      count += items.length;
      for (const item of items) if (!startsWithType(item)) untyped++;
      if (items.length > 0) yield items;
    }
    const envelope = explained(what, () => splitter.finish());
    refuseOtherList(kind, { ...envelope, items: count, untyped: () => untyped }, what);
    metadata.resolve(listMeta(envelope.metadata));
  } catch (error) {
    metadata.reject(error);
    throw error;
  } finally {
    metadata.reject(new DOMException('the list was not read to its end', 'AbortError'));
  }
}

/** Whether an item begins with its apiVersion or kind, as servers write one that states its type. */
function startsWithType(item: Uint8Array): boolean {
  const letter = item[skipSpace(item, 1, item.length) + 1];
  return letter === 0x61 || letter === 0x6b;
}

/** Whether an item is of another kind. One is looked at, in case the list itself may be of any kind. */
function statesOther(kind: Kind, item: Uint8Array): boolean {
  const scan = createObjectScan();
  if (!scanObject(item, skipSpace(item, 0, item.length), item.length, { scan })) return false;
  const text = (start: number, end: number): string | undefined =>
    start < 0 ? undefined : readAscii(item, start, end);
  const apiVersion = text(scan.apiVersionStart, scan.apiVersionEnd);
  return isOther(kind, { apiVersion, kind: text(scan.kindStart, scan.kindEnd) });
}

/**
 * Reads a LIST answer into objects. A large one is decoded item by item while it arrives, so that the event loop turns
 * in between, after 3 ms at the latest, and the body is never held as a whole.
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
  let untyped = 0;
  const slicer = new Slicer(clock, budgetMs);
  const take = async (chunks: readonly Buffer[], into: ListSplitter): Promise<void> => {
    for (const chunk of chunks) {
      for (const item of explained(what, () => into.push(chunk))) {
        const value = decodeBytes(item, what);
        if (isUntyped(value)) untyped++;
        items.push(asItem(kind, value, what));
        if (slicer.isOver) await slicer.breathe();
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
    return asList(kind, value, what);
  }
  const whole = splitter;
  const envelope = explained(what, () => whole.finish());
  refuseOtherList(kind, { ...envelope, items: items.length, untyped: () => untyped }, what);
  return listWith(kind, envelope, items);
}

function explained<T>(what: string, cut: () => T): T {
  try {
    return cut();
  } catch (error) {
    if (!isFrameError(error)) throw error;
    throw new DecodeError(`${what}: cannot decode the answer: ${error.message}`, { cause: error });
  }
}
