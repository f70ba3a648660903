/** Protobuf in random calls: what is JSON in a draft is sent as protobuf, and what is answered in it is read. */
// The codec under test, by its place: it is no part of the package's interface. That what a real server wrote comes out
// of it byte by byte as it went in is part of the comparison.
// @boundaries-ignore the codec is no part of the package's interface
import { watchFrame } from '../../../../packages/apiserver/src/codecs/protobuf-shapes.js';
// @boundaries-ignore the codec is no part of the package's interface
import {
  decodeEnvelope,
  encodeObject,
  unwrapMessage,
  wrapMessage,
} from '../../../../packages/apiserver/src/protobuf/envelope.js';
// @boundaries-ignore the codec is no part of the package's interface
import { structOfKind } from '../../../../packages/apiserver/src/protobuf/kinds.js';
// @boundaries-ignore the codec is no part of the package's interface
import { encodeMessage } from '../../../../packages/apiserver/src/protobuf/message.js';
// @boundaries-ignore the codec is no part of the package's interface
import { WireReader } from '../../../../packages/apiserver/src/protobuf/wire-reader.js';
// @boundaries-ignore the codec is no part of the package's interface
import { decodeStruct } from '../../../../packages/crd/src/engine/go/go-decode.js';
import type { Doc, Json, WatchEvent } from '../harness/doc.js';
import type { Answer } from '../harness/http.js';
import type { EventDecoder } from '../harness/watch.js';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A body as protobuf of a kind; undefined where a value in it has no place in the Go type: that can be said in JSON only. */
export function inProtobuf(body: unknown, { apiVersion, kind }: KindName): Buffer | undefined {
  const struct = structOfKind(apiVersion, kind);
  if (struct === undefined || typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const given = body as Json;
  try {
    const message = encodeMessage(struct, decodeStruct(given, struct, []));
    return Buffer.from(wrapMessage({ apiVersion: text(given.apiVersion), kind: text(given.kind), raw: message }));
  } catch {
    return undefined;
  }
}

/** A custom resource in protobuf, which no server reads. */
export function ofCustomResource({ apiVersion, kind }: KindName): Buffer {
  return Buffer.from(wrapMessage({ apiVersion, kind, raw: new Uint8Array() }));
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

interface Decoded {
  readonly object: Json;
  /** Whether the codec makes the same bytes of it again. */
  readonly isExact: boolean;
}

function decode(bytes: Uint8Array): Decoded {
  const object = decodeEnvelope(unwrapMessage(bytes));
  if (object === undefined) throw new Error(`no known kind: ${Buffer.from(bytes.subarray(0, 80)).toString('latin1')}`);
  return { object, isExact: Buffer.compare(encodeObject(object), bytes) === 0 };
}

/** An answer as if it had come in JSON; those in other media types as they are. */
export function readable(answer: Answer): Answer {
  const type = [answer.headers['content-type'] ?? ''].flat().join();
  if (!type.startsWith(PROTOBUF)) return answer;
  const { object, isExact } = decode(answer.bytes);
  const shown = { ...object, ...(!isExact && { encoding: answer.bytes.toString('hex') }) } as Doc;
  const { request, status, headers, bytes, warnings } = answer;
  return { request, status, headers, bytes, warnings, text: JSON.stringify(shown), body: object as Doc };
}

/** The events of a watch in protobuf: each in a frame that begins with its length. */
export function protobufEvents(): EventDecoder {
  let pending = Buffer.alloc(0);
  return {
    push(chunk) {
      pending = Buffer.concat([pending, chunk]);
      const events: WatchEvent[] = [];
      while (pending.length >= 4) {
        const end = 4 + pending.readUInt32BE(0);
        if (pending.length < end) break;
        events.push(readFrame(pending.subarray(0, end)));
        pending = pending.subarray(end);
      }
      return events;
    },
    rest: () => (pending.length === 0 ? '' : pending.toString('hex')),
  };
}

function readFrame(frame: Buffer): WatchEvent {
  const reader = new WireReader(frame, 4);
  let type = '';
  let raw: Uint8Array = Buffer.alloc(0);
  while (!reader.isDone) {
    const tag = reader.varint();
    if (tag === 0x0a) type = reader.text();
    else if (tag === 0x12) {
      const extension = reader.message();
      while (!extension.isDone) {
        const inner = extension.varint();
        if (inner === 0x0a) raw = extension.bytes();
        else extension.skip(inner & 7);
      }
    } else reader.skip(tag & 7);
  }
  const { object, isExact } = decode(raw);
  const isSame = isExact && Buffer.compare(watchFrame(type, raw), frame) === 0;
  return { type, object: { ...object, ...(!isSame && { encoding: frame.toString('hex') }) } };
}
