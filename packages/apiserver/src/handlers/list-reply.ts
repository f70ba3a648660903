import { systemClock } from '@kctl/wait';
import { nextTurn } from '@kctl/wait/internal';
import { listItems, type ProtobufShape } from '../codecs/protobuf-shapes.js';
import type { ListMetadata } from '../protocol/list-metadata.js';
import type { OtherThread } from '../codecs/body.js';
import { requireTransform } from '../codecs/negotiate.js';
import { listText, type Shape } from '../codecs/shapes.js';
import { protobufType } from '../protobuf/envelope.js';
import type { Reply } from '../protocol/api-request.js';
import type { Sink } from '../protocol/sink.js';
import type { Rendering } from '../storage/version.js';
import type { ResourceCall } from './call.js';
import { commonHeaders } from '../protocol/plain-reply.js';
import { placeOfCall, textReply } from './reply.js';

/** Objects that are read or written before others get their turn. */
export const sliceSize = 500;

/** A turn that renders objects ends after this time, because one of them may take as long as a thousand others. */
export const turnMs = 8;

/** And with this many characters or bytes, since encoding a string of 16 MB takes 50 ms. */
const sliceLength = 1024 * 1024;

/** Objects from one index to the end of a slice of them, which are few, or as many as their time allows. */
interface Slice<T> {
  readonly rendered: T[];
  readonly end: number;
}

/** Renders objects for one turn. */
function sliceFrom<T extends { readonly length: number }>(
  { length, rendered }: Pick<ListContent, 'length' | 'rendered'>,
  from: number,
  render: (rendering: Rendering) => T,
): Slice<T> {
  const started = systemClock.monotonicNow();
  const parts: T[] = [];
  let index = from;
  let size = 0;
  for (const rendering of rendered(from, Math.min(length, from + sliceSize))) {
    const part = render(rendering);
    parts.push(part);
    index++;
    size += part.length;
    if (size >= sliceLength || systemClock.monotonicNow() - started >= turnMs) break;
  }
  return { rendered: parts, end: index };
}

/** Content of a list answer. `rendered` may be long, so it is walked slice by slice. */
interface ListContent {
  readonly metadata: ListMetadata;
  readonly length: number;
  /** The items from one index to another. */
  readonly rendered: (from: number, to: number) => readonly Rendering[];
}

/** A list as an answer; a long one is written in slices, so that it does not hold up others. */
export async function listReply(shape: Shape, call: ResourceCall, content: ListContent): Promise<Reply> {
  const { negotiated, definition } = call;
  requireTransform(negotiated, definition, true);
  await prepare(shape, content, placeOfCall(call));
  if (shape.protobuf !== undefined) return protobufReply(shape.protobuf, content);
  const ordered = shape.order === undefined ? content : inOrder(content, shape.order);
  const { metadata, length } = ordered;
  const render = (rendering: Rendering): string => shape.item(rendering);
  const first = sliceFrom(ordered, 0, render);
  if (first.end === length)
    return textReply(200, listText(shape, metadata, first.rendered.join(',')), negotiated, placeOfCall(call));
  if (negotiated.mediaType !== 'application/json') {
    const items = [...first.rendered];
    for (let index = first.end; index < length; ) {
      await nextTurn();
      const slice = sliceFrom(ordered, index, render);
      items.push(...slice.rendered);
      index = slice.end;
    }
    return textReply(200, listText(shape, metadata, items.join(',')), negotiated, placeOfCall(call));
  }
  const stream = async (sink: Sink): Promise<void> => {
    sink.write(Buffer.from(`${shape.open(metadata)}${first.rendered.join(',')}`));
    for (let index = first.end; index < length && !sink.closed.aborted; ) {
      await sink.drained();
      await nextTurn();
      const slice = sliceFrom(ordered, index, render);
      sink.write(Buffer.from(`,${slice.rendered.join(',')}`));
      index = slice.end;
    }
    sink.write(Buffer.from(shape.close));
    sink.end();
  };
  return { status: 200, headers: { ...commonHeaders, 'content-type': 'application/json' }, stream, isLong: true };
}

/** Has made in another thread what has to be made of long objects. */
async function prepare(shape: Shape, { length, rendered }: ListContent, place: OtherThread): Promise<void> {
  if (shape.pending === undefined) return;
  let started = systemClock.monotonicNow();
  for (let index = 0; index < length; index++) {
    for (const rendering of rendered(index, index + 1))
      await shape.pending(rendering)?.run(place.offload, place.signal);
    if (systemClock.monotonicNow() - started < turnMs) continue;
    await nextTurn();
    started = systemClock.monotonicNow();
  }
}

/** Takes all objects at once, since they are few. */
function inOrder(content: ListContent, order: NonNullable<Shape['order']>): ListContent {
  const all = content.rendered(0, content.length).toSorted(order);
  return { ...content, rendered: (from, to) => all.slice(from, to) };
}

/** In protobuf the length of all stands before the first, so all is made before any goes out. */
async function protobufReply(shape: ProtobufShape, { metadata, length, rendered }: ListContent): Promise<Reply> {
  const slices: Uint8Array[] = [];
  for (let index = 0; index < length; ) {
    if (index > 0) await nextTurn();
    const slice = sliceFrom({ length, rendered }, index, (rendering) => shape.message(rendering));
    slices.push(listItems(slice.rendered));
    index = slice.end;
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
