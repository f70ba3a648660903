import type { ProtobufShape } from '../codecs/protobuf-shapes.js';
import type { ListMetadata } from '../codecs/list-metadata.js';
import { listText, type Shape } from '../codecs/shapes.js';
import { protobufType } from '../protobuf/envelope.js';
import type { Reply } from '../server/api-request.js';
import type { Sink } from '../server/sink.js';
import type { Rendering } from '../storage/version.js';
import type { ResourceCall } from './call.js';
import { commonHeaders, textReply } from './reply.js';

/** Objects that are read or written before others get their turn. */
export const sliceSize = 500;

/** Lets others have their turn. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A list on its way out. `rendered` may be long: it is walked slice by slice. */
interface ListContent {
  readonly metadata: ListMetadata;
  readonly length: number;
  /** The items from one index to another. */
  readonly rendered: (from: number, to: number) => readonly Rendering[];
}

/** A list as an answer; a long one is written in slices, so that it does not hold up others. */
export async function listReply(shape: Shape, { negotiated }: ResourceCall, content: ListContent): Promise<Reply> {
  if (shape.protobuf !== undefined) return protobufReply(shape.protobuf, content);
  const { metadata, length, rendered } = shape.order === undefined ? content : inOrder(content, shape.order);
  const render = (from: number, to: number): string =>
    rendered(from, to)
      .map((rendering) => shape.item(rendering))
      .join(',');
  if (length <= sliceSize || negotiated.mediaType !== 'application/json')
    return textReply(200, listText(shape, metadata, render(0, length)), negotiated);
  const stream = async (sink: Sink): Promise<void> => {
    sink.write(Buffer.from(shape.open(metadata)));
    for (let index = 0; index < length && !sink.closed.aborted; index += sliceSize) {
      const text = render(index, index + sliceSize);
      sink.write(Buffer.from(index === 0 ? text : `,${text}`));
      await sink.drained();
      await breathe();
    }
    sink.write(Buffer.from(shape.close));
    sink.end();
  };
  return { status: 200, headers: { ...commonHeaders, 'content-type': 'application/json' }, stream, isLong: true };
}

/** Few objects: all are taken at once. */
function inOrder(content: ListContent, order: NonNullable<Shape['order']>): ListContent {
  const all = content.rendered(0, content.length).toSorted(order);
  return { ...content, rendered: (from, to) => all.slice(from, to) };
}

/** In protobuf the length of all stands before the first, so all is made before any goes out. */
async function protobufReply(shape: ProtobufShape, { metadata, length, rendered }: ListContent): Promise<Reply> {
  const slices: Uint8Array[] = [];
  for (let index = 0; index < length; index += sliceSize) {
    if (index > 0) await breathe();
    slices.push(Buffer.concat(rendered(index, index + sliceSize).map((rendering) => shape.item(rendering))));
  }
  const { head, tail } = shape.list(
    metadata,
    slices.reduce((sum, slice) => sum + slice.length, 0),
  );
  const parts = [head, ...slices, tail];
  const headers = { ...commonHeaders, 'content-type': protobufType };
  if (slices.length < 2) return { status: 200, headers, body: Buffer.concat(parts) };
  const stream = async (sink: Sink): Promise<void> => {
    for (const part of parts) {
      if (sink.closed.aborted) return;
      sink.write(part);
      await sink.drained();
    }
    sink.end();
  };
  return { status: 200, headers, stream, isLong: true };
}
