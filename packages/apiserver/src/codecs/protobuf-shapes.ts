import type { Status } from '@kctl/apimachinery';
import type { GoStruct, JsonObject } from '@kctl/crd/internal/engine';
import { encodeObject, envelopeAround, wrapMessage } from '../protobuf/envelope.js';
import { structOfKind } from '../protobuf/kinds.js';
import { encodeMessage } from '../protobuf/message.js';
import { ReverseWriter, wireType } from '../protobuf/wire-writer.js';
import type { ResourceDefinition } from '../resource/resource.js';
import { headed, isLongText, metadataText } from '../storage/long-object.js';
import type { Rendering } from '../storage/version.js';
import type { WatchShape } from './shape.js';
import type { ListMetadata } from '../protocol/list-metadata.js';
import { pendingJob, type PendingWork } from './pending-work.js';

/** How objects and lists of one resource are shown in protobuf to one client. */
export interface ProtobufShape {
  /** One object, with what it is. */
  one(rendering: Rendering): Uint8Array;
  /** Returns the encoding to do before {@link one} and {@link item} are quick; undefined if they are. */
  pending(rendering: Rendering): PendingWork | undefined;
  /** The message of an object. It is kept with the object and must not be changed. */
  message(rendering: Rendering): Uint8Array;
  /** Bytes before and after items of a total length. */
  list(metadata: ListMetadata, length: number): { readonly head: Uint8Array; readonly tail: Uint8Array };
  readonly watch: WatchShape;
}

/** Tag of `items` in every list (field 2, of bytes). */
const itemsTag = 2 * 8 + wireType.bytes;

function requireStruct(apiVersion: string, kind: string): GoStruct {
  const struct = structOfKind(apiVersion, kind);
  if (struct === undefined) throw new RangeError(`${apiVersion} ${kind} has no form in protobuf`);
  return struct;
}

/** An event as a frame, with its length in four bytes, then a WatchEvent whose object includes its type. */
export function watchFrame(type: string, object: Uint8Array): Uint8Array {
  const writer = new ReverseWriter();
  writer.raw(object);
  writer.close(1, 0);
  writer.close(2, 0);
  const before = writer.length;
  writer.text(type);
  writer.close(1, before);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(writer.length);
  writer.raw(length);
  return writer.finish();
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/**
 * Messages as items of a list, each with its tag and length. They are copied once, because a list of many MB made of
 * small buffers that are put together twice is three times as much for the collector to free.
 */
export function listItems(messages: readonly Uint8Array[]): Uint8Array {
  let total = 0;
  for (const { length } of messages) total += 1 + varintLength(length) + length;
  const bytes = Buffer.allocUnsafeSlow(total);
  let at = 0;
  for (const message of messages) {
    bytes[at++] = itemsTag;
    let rest = message.length;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
    bytes[at++] = rest;
    bytes.set(message, at);
    at += message.length;
  }
  return bytes;
}

interface Forms {
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  /** The message of an object. */
  readonly messageOf: (rendering: Rendering) => Uint8Array;
  readonly pending: ProtobufShape['pending'];
}

function watchShape(definition: ResourceDefinition, { apiVersion, kind, messageOf, pending }: Forms): WatchShape {
  return {
    id: `protobuf ${apiVersion} ${kind} of ${definition.apiVersion} ${definition.kind}`,
    definition,
    event: (type, version) =>
      watchFrame(type, wrapMessage({ apiVersion, kind, raw: messageOf(version.in(definition)) })),
    bookmark: (resourceVersion, annotations) => {
      const metadata = { resourceVersion, ...(annotations !== undefined && { annotations }) };
      return watchFrame('BOOKMARK', encodeObject({ apiVersion, kind, metadata }));
    },
    error: (status: Status) => watchFrame('ERROR', encodeObject({ ...status })),
    hasPreamble: false,
    pending: (version) => pending(version.in(definition)),
  };
}

function shapeOf(definition: ResourceDefinition, forms: Forms): ProtobufShape {
  const { apiVersion, kind, listKind, messageOf, pending } = forms;
  return {
    pending,
    one: (rendering) => wrapMessage({ apiVersion, kind, raw: messageOf(rendering) }),
    message: messageOf,
    list: (metadata, length) => {
      const before = encodeMessage(requireStruct(apiVersion, listKind), { metadata });
      const { head, tail } = envelopeAround({ apiVersion, kind: listKind }, before.length + length);
      return { head: Buffer.concat([head, before]), tail };
    },
    watch: watchShape(definition, forms),
  };
}

/** Objects as they are. */
export function wholeProtobuf(definition: ResourceDefinition): ProtobufShape {
  const { apiVersion, kind, listKind } = definition;
  const struct = requireStruct(apiVersion, kind);
  const messageOf = (rendering: Rendering): Uint8Array => {
    rendering.protobuf ??= {};
    return (rendering.protobuf.whole ??= encodeMessage(struct, rendering.object));
  };
  const pending = (rendering: Rendering): PendingWork | undefined => {
    if (rendering.protobuf?.whole !== undefined || !isLongText(rendering.tail)) return undefined;
    const { kind: storedKind, apiVersion: storedVersion } = rendering.object;
    const head = { kind: storedKind, apiVersion: storedVersion };
    return pendingJob(rendering, 'protobuf', {
      job: () => ({ type: 'protobuf' as const, apiVersion, kind, text: headed(head, rendering.tail) }),
      keep: (message) => {
        rendering.protobuf ??= {};
        rendering.protobuf.whole = message;
      },
    });
  };
  return shapeOf(definition, { apiVersion, kind, listKind, messageOf, pending });
}

/** Metadata alone. */
export function partialProtobuf(definition: ResourceDefinition): ProtobufShape {
  const kind = 'PartialObjectMetadata';
  const apiVersion = 'meta.k8s.io/v1';
  const struct = requireStruct(apiVersion, kind);
  const messageOf = (rendering: Rendering): Uint8Array => {
    const { metadata }: JsonObject = rendering.object;
    rendering.protobuf ??= {};
    return (rendering.protobuf.partial ??= encodeMessage(struct, { metadata }));
  };
  const pending = (rendering: Rendering): PendingWork | undefined => {
    if (rendering.protobuf?.partial !== undefined || !isLongText(rendering.tail)) return undefined;
    const text = `{"metadata":${metadataText(rendering.object)}}`;
    if (!isLongText(text)) return undefined;
    return pendingJob(rendering, 'partial', {
      job: () => ({ type: 'protobuf' as const, apiVersion, kind, text }),
      keep: (message) => {
        rendering.protobuf ??= {};
        rendering.protobuf.partial = message;
      },
    });
  };
  return shapeOf(definition, { apiVersion, kind, listKind: `${kind}List`, messageOf, pending });
}
