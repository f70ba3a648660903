import type { KubeObject } from '@kctl/apimachinery';
import { FrameError } from '@kctl/apimachinery/internal/wire';
import type { WatchEvent } from '@kctl/client';
import type { StoredObject } from '@kctl/cache-index';
import type { DecodedFrame, DecodedItem, Decoder, FindStored } from './decoder.js';
import { clearFrame, clearItem, createDecodedFrame, createDecodedItem, settleFrame, statusOf } from './decoder.js';
import type { DecoderOptions } from './parsed-decoder.js';
import { ParsedDecoder } from './parsed-decoder.js';
import { unknownType } from './unknown-type.js';

/** Takes objects that were parsed by the ListerWatcher. They belong to the informer from now on. */
export class ObjectDecoder<T extends KubeObject> implements Decoder<T, T | WatchEvent<T>> {
  readonly #parsed: ParsedDecoder<T>;
  readonly #frame: DecodedFrame<T> = createDecodedFrame<T>();
  readonly #item: DecodedItem<T> = createDecodedItem<T>();

  constructor(options: DecoderOptions<T>) {
    this.#parsed = new ParsedDecoder({ ...options, hasDates: true });
  }

  item(raw: T | WatchEvent<T>, find: FindStored<T>): DecodedItem<T> {
    const item = this.#item;
    clearItem(item);
    this.#parsed.decode(raw, { find, isDelete: false }, item);
    return item;
  }

  frame(raw: T | WatchEvent<T>, find: FindStored<T>): DecodedFrame<T> {
    const frame = this.#frame;
    clearFrame(frame);
    if (!isWatchEvent<T>(raw)) throw new FrameError('a watch event is not { type, … }');
    switch (raw.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const isDelete = raw.type === 'DELETED';
        frame.isAdded = raw.type === 'ADDED';
        this.#parsed.decode(raw.object, { find, isDelete }, frame);
        return settleFrame(frame, isDelete);
      }
      case 'BOOKMARK':
        frame.kind = raw.initialEventsEnd ? 'initial-end' : 'bookmark';
        frame.resourceVersion = typeof raw.resourceVersion === 'string' ? raw.resourceVersion : '';
        return frame;
      case 'ERROR':
        frame.kind = 'error';
        frame.status = statusOf(raw.status);
        return frame;
      default:
        throw new FrameError(unknownType(raw));
    }
  }

  retire(_stored: StoredObject<T>): void {
    // Parsed objects are the garbage collector's.
  }
}

function isWatchEvent<T extends KubeObject>(raw: unknown): raw is WatchEvent<T> {
  return typeof raw === 'object' && raw !== null && 'type' in raw && typeof raw.type === 'string';
}
