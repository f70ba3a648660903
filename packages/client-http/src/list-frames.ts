import type { Kind, ListMeta } from '@kctl/apimachinery';
import { stringifyJson } from '@kctl/apimachinery';
import type { ListFrames } from '@kctl/client';
import { collect } from './byte-stream.js';
import { asList, decodeJson } from './codec.js';

/** The items of a LIST answer as documents. */
export function listFrames(kind: Kind, body: AsyncIterable<Buffer[]>, what: string): ListFrames {
  const { promise, resolve, reject } = Promise.withResolvers<ListMeta>();
  promise.catch(() => undefined);
  const frames = cutItems(kind, body, { what, resolve, reject });
  return {
    metadata: promise,
    [Symbol.asyncIterator]: () => frames,
    [Symbol.asyncDispose]: async () => {
      await body[Symbol.asyncIterator]().return?.();
      reject(new DOMException('the list was not read to its end', 'AbortError'));
    },
  };
}

interface Metadata {
  readonly what: string;
  resolve(metadata: ListMeta): void;
  reject(error: unknown): void;
}

async function* cutItems(
  kind: Kind,
  body: AsyncIterable<Buffer[]>,
  metadata: Metadata,
): AsyncGenerator<readonly Uint8Array[], void> {
  try {
    const list = asList(kind, decodeJson((await collect(body)).toString(), metadata.what));
    yield list.items.map((item) => Buffer.from(stringifyJson(item)));
    metadata.resolve(list.metadata);
  } catch (error) {
    metadata.reject(error);
    throw error;
  }
}
