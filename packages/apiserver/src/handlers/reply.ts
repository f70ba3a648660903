import { isStatusError, type Status, type StatusError } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { jsonText, objectOf } from '@kctl/crd/internal/engine';
import { renderYaml, type OtherThread } from '../codecs/body.js';
import { shapeFor, type Shape } from '../codecs/shapes.js';
import { negotiateStatus, requireTransform, type MediaType, type Negotiated } from '../codecs/negotiate.js';
import { JsonSyntaxError, scanJson } from '../json/strict-json.js';
import { encodeObject, protobufType } from '../protobuf/envelope.js';
import { commonHeaders } from '../protocol/plain-reply.js';
import { badRequest, internalError } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
import type { Rendering } from '../storage/version.js';
import type { Backend, ResourceCall } from './call.js';

/** JSON as an answer, in the negotiated media type; long YAML is written in another thread, if there is one. */
export async function textReply(
  status: number,
  json: string,
  { mediaType }: Pick<Negotiated, 'mediaType'>,
  elsewhere?: OtherThread,
): Promise<Reply> {
  return {
    status,
    headers: { ...commonHeaders, 'content-type': mediaType },
    body: await bodyIn(mediaType, json, elsewhere),
  };
}

async function bodyIn(
  mediaType: MediaType,
  json: string,
  elsewhere: OtherThread | undefined,
): Promise<string | Uint8Array> {
  switch (mediaType) {
    case 'application/json':
      return json;
    case 'application/yaml':
      return renderYaml(json, elsewhere);
    case protobufType:
      return encodeObject(objectOf(scanJson(json).value));
  }
}

/** A Status as an answer in the media type that the Accept header of a request wants of failures. */
export async function negotiatedStatusReply(status: Status, accept: string | undefined): Promise<Reply> {
  const reply = statusReply(status);
  const { mediaType } = negotiateStatus(accept);
  if (mediaType === 'application/json') return reply;
  const { body } = await textReply(reply.status, jsonText(status), { mediaType });
  return { ...reply, headers: { ...reply.headers, 'content-type': mediaType }, ...(body !== undefined && { body }) };
}

/** A Status as an answer in JSON. */
export function statusReply(status: Status): Reply {
  const retryAfter = status.details?.retryAfterSeconds;
  return {
    status: status.code ?? 500,
    headers: {
      ...commonHeaders,
      'content-type': 'application/json',
      ...(retryAfter !== undefined && retryAfter > 0 && { 'retry-after': String(retryAfter) }),
    },
    body: jsonText(status),
  };
}

/** Converts a thrown value to a StatusError. Any other error is an internal error that names its cause. */
export function toStatusError(error: unknown): StatusError {
  if (isStatusError(error)) return error;
  if (error instanceof JsonSyntaxError) return badRequest(`json: ${error.message}`);
  return internalError(messageOf(error));
}

/** The shape of the answers to a call. */
export function shapeOf(backend: Backend, call: ResourceCall): Shape {
  return shapeFor(call.definition, call.negotiated, {
    includeObject: call.query.get('includeObject'),
    now: () => backend.clock.now(),
  });
}

/** Thread that writes the answer to a call, if it is long. */
export function placeOfCall({ offload, request }: ResourceCall): OtherThread {
  return {
    offload,
    // Read when another thread is called, because a client may make its signal then.
    get signal() {
      return request.signal;
    },
  };
}

/** The kind of the answer, either of the resource or of the view that a subresource shows. */
function answerKind({ definition, path }: ResourceCall): { isCustom: boolean; group: string; kind: string } {
  const subresource = definition.subresources.get(path.subresource);
  if (subresource?.type !== 'view') return definition;
  const { group, kind } = subresource.view.kind;
  return { isCustom: false, group, kind };
}

/** One object as an answer. */
export async function objectReply(
  backend: Backend,
  call: ResourceCall,
  answer: { status: number; rendering: Rendering },
): Promise<Reply> {
  const { status, rendering } = answer;
  requireTransform(call.negotiated, answerKind(call), false);
  const shape = shapeOf(backend, call);
  const pending = shape.pending?.(rendering);
  if (pending !== undefined) await pending.run(call.offload, call.request.signal);
  if (shape.protobuf === undefined) return textReply(status, shape.one(rendering), call.negotiated, placeOfCall(call));
  const headers = { ...commonHeaders, 'content-type': protobufType };
  return { status, headers, body: shape.protobuf.one(rendering) };
}
