import type { Kind, KubeList, KubeObject } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { FrameError, framesOfLine, isOneFrame, otherListType } from '@kctl/apimachinery/internal/wire';
import type { WatchEvent } from '@kctl/client';
import { shownType } from '@kctl/options';
import type { FrameListerWatcher, ListCall, ObjectListerWatcher, WatchCall } from '../list-watcher.js';

/** The part of a list after its items. */
export interface ListEnd {
  readonly resourceVersion: string;
  readonly continueToken: string;
}

/** Batches as they arrive. */
export interface Batches<Raw> extends AsyncIterable<readonly Raw[]>, AsyncDisposable {}

/** A list in batches. */
export interface ListBatches<Raw> extends Batches<Raw> {
  /** To be read after the last batch. */
  end(): Promise<ListEnd>;
}

/** A ListerWatcher in batches of whatever it yields. */
export interface BatchSource<Raw> {
  list(call: ListCall): Promise<ListBatches<Raw>>;
  watch(call: WatchCall): Promise<Batches<Raw>>;
}

/** Batches of bytes. */
export function frameSource(listerWatcher: FrameListerWatcher): BatchSource<Uint8Array> {
  return {
    list: async (call) => {
      const frames = await listerWatcher.listFrames(call);
      // The stream's own failure is the one to report; this promise must not fail unheard beside it.
      frames.metadata.catch(() => undefined);
      return {
        [Symbol.asyncIterator]: () => frames[Symbol.asyncIterator](),
        end: async () => endOf(await frames.metadata),
        [Symbol.asyncDispose]: () => frames[Symbol.asyncDispose](),
      };
    },
    watch: async (call) => {
      const stream = await listerWatcher.watchFrames(call);
      requireStream('watchFrames', stream);
      return {
        [Symbol.asyncIterator]: () => singleFrames(stream[Symbol.asyncIterator]()),
        [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
      };
    },
  };
}

/** Batches of parsed objects. */
export function objectSource<T extends KubeObject>(
  listerWatcher: ObjectListerWatcher<T>,
  kind: Kind<T>,
): BatchSource<T | WatchEvent<T>> {
  return {
    list: async (call) => {
      const list = await listerWatcher.list(call);
      return {
        [Symbol.asyncIterator]: () => inOneBatch(itemsOf(kind, list)),
        end: () => Promise.resolve(endOf(list.metadata)),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
    watch: async (call) => {
      const stream = await listerWatcher.watch(call);
      requireStream('watch', stream);
      return {
        [Symbol.asyncIterator]: () => batchesOfOne(stream[Symbol.asyncIterator]()),
        [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
      };
    },
  };
}

/** @throws TypeError for what a lister-watcher returned that is not a stream */
function requireStream(method: string, stream: unknown): void {
  if (typeof stream === 'object' && stream !== null)
    if (isFunction(Reflect.get(stream, Symbol.asyncIterator)) && isFunction(Reflect.get(stream, Symbol.asyncDispose)))
      return;
  throw new TypeError(
    `${method} of the listerWatcher returned ${shownType(stream)}: expected a stream with Symbol.asyncIterator and Symbol.asyncDispose`,
  );
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** A frame may be a line with several. */
function singleFrames(lines: AsyncIterator<readonly Uint8Array[]>): AsyncIterator<readonly Uint8Array[]> {
  const split = (result: IteratorResult<readonly Uint8Array[]>): IteratorResult<readonly Uint8Array[]> =>
    result.done === true || result.value.every(isOneFrame)
      ? result
      : { done: false, value: result.value.flatMap(framesOfLine) };
  return {
    next: () => lines.next().then(split),
    return: async () => {
      await lines.return?.();
      return { done: true, value: undefined };
    },
  };
}

/**
 * The items of a list. Go writes an empty list as null. @throws FrameError for a value that is not a list of this kind
 */
function itemsOf<T extends KubeObject>(kind: Kind<T>, list: KubeList<T>): readonly T[] {
  const given: unknown = list.items;
  if (given !== null && !Array.isArray(given)) throw new FrameError(`malformed list: items is of type ${typeof given}`);
  const items = given === null ? [] : list.items;
  if (!items.every(isJsonObject)) throw new FrameError('malformed list: an item is not an object');
  const came = otherListType(kind, {
    apiVersion: list.apiVersion,
    kind: list.kind,
    items: items.length,
    untyped: () => items.filter((item) => (item.kind ?? undefined) === undefined).length,
  });
  if (came === undefined) return items;
  throw new FrameError(`the answer is ${came}: expected a ${kind.apiVersion} ${kind.kind}List`);
}

function inOneBatch<E>(items: readonly E[]): AsyncIterator<readonly E[]> {
  let isDone = false;
  return {
    next: () => {
      const result: IteratorResult<readonly E[]> = isDone
        ? { done: true, value: undefined }
        : { done: false, value: items };
      isDone = true;
      return Promise.resolve(result);
    },
  };
}

function batchesOfOne<E>(events: AsyncIterator<E>): AsyncIterator<readonly E[]> {
  return {
    next: async () => {
      const result = await events.next();
      return result.done === true ? { done: true, value: undefined } : { done: false, value: [result.value] };
    },
    return: async () => {
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
}

function endOf(metadata: { readonly resourceVersion?: string; readonly continue?: string }): ListEnd {
  const { resourceVersion, continue: token } = metadata;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { resourceVersion: text(resourceVersion), continueToken: text(token) };
}
