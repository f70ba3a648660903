import { stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import { structOfKind } from './kinds.js';
import { decodeMessage, encodeMessage } from './message.js';
import { ProtobufError, WireReader } from './wire-reader.js';
import { ReverseWriter, wireType } from './wire-writer.js';

/** The media type. */
export const protobufType = 'application/vnd.kubernetes.protobuf';

/** Prefix of every object, which is `k8s` and a zero byte. */
const prefix = Buffer.from('k8s\0');

/** A runtime.Unknown, which is an object with its type. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/**
 * Head and end of the bytes around a message of a length, with prefix, kind, and the two empty fields that Go writes
 * after it.
 */
export function envelopeAround(
  { apiVersion, kind }: Pick<Envelope, 'apiVersion' | 'kind'>,
  length: number,
): { readonly head: Uint8Array; readonly tail: Uint8Array } {
  const writer = new ReverseWriter();
  writer.varint(length);
  writer.tag(2, wireType.bytes);
  const before = writer.length;
  for (const [number, text] of [
    [2, kind],
    [1, apiVersion],
  ] as const) {
    const start = writer.length;
    writer.text(text);
    writer.close(number, start);
  }
  writer.close(1, before);
  writer.raw(prefix);
  return { head: writer.finish(), tail: Uint8Array.of(0x1a, 0, 0x22, 0) };
}

/** An object with what it is. */
export function wrapMessage({ apiVersion, kind, raw }: Envelope): Uint8Array {
  const { head, tail } = envelopeAround({ apiVersion, kind }, raw.length);
  return Buffer.concat([head, raw, tail]);
}

/** @throws ProtobufError */
export function unwrapMessage(bytes: Uint8Array): Envelope {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) throw new ProtobufError('empty data');
  if (!buffer.subarray(0, prefix.length).equals(prefix))
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  if (buffer.length === prefix.length) throw new ProtobufError('empty body');
  const reader = new WireReader(buffer, prefix.length);
  let apiVersion = '';
  let kind = '';
  let raw: Uint8Array = new Uint8Array();
  while (!reader.isDone) {
    const tag = reader.varint();
    if (tag === 0x0a) {
      const typeMeta = reader.message();
      while (!typeMeta.isDone) {
        const inner = typeMeta.varint();
        if (inner === 0x0a) apiVersion = typeMeta.text();
        else if (inner === 0x12) kind = typeMeta.text();
        else typeMeta.skip(inner & 7);
      }
    } else if (tag === 0x12) raw = reader.bytes();
    else reader.skip(tag & 7);
  }
  return { apiVersion, kind, raw };
}

/**
 * A JSON object of a kind that has a form in protobuf, such as built-in kinds and their lists, Status, metadata alone.
 *
 * @throws RangeError for other kinds
 */
export function encodeObject(object: JsonObject): Uint8Array {
  const apiVersion = stringOf(object['apiVersion']);
  const kind = stringOf(object['kind']);
  const struct = structOfKind(apiVersion, kind);
  if (struct === undefined) throw new RangeError(`${apiVersion} ${kind} has no form in protobuf`);
  return wrapMessage({ apiVersion, kind, raw: encodeMessage(struct, object) });
}

/** The JSON object of an envelope; undefined if its kind has no form in protobuf. @throws ProtobufError */
export function decodeEnvelope({ apiVersion, kind, raw }: Envelope): JsonObject | undefined {
  const struct = structOfKind(apiVersion, kind);
  return struct === undefined ? undefined : { ...decodeMessage(struct, raw), kind, apiVersion };
}
