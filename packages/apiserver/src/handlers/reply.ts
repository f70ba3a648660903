import { isStatusError, type Status, type StatusError } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry';
import { toYaml } from '../codecs/body.js';
import { shapeFor, type Shape } from '../codecs/shapes.js';
import type { Negotiated } from '../codecs/negotiate.js';
import { internalError } from '../registry/status.js';
import type { Reply } from '../server/api-request.js';
import { jsonText } from '../storage/json-text.js';
import type { Rendering } from '../storage/version.js';
import type { Backend, ResourceCall } from './call.js';

/** Answers that no cache may keep; upstream puts this on everything. */
export const commonHeaders = { 'cache-control': 'no-cache, private' } as const;

/** A JSON text as an answer, in the media type that was negotiated. */
export async function textReply(status: number, json: string, negotiated: Negotiated): Promise<Reply> {
  const isYaml = negotiated.mediaType === 'application/yaml';
  return {
    status,
    headers: { ...commonHeaders, 'content-type': negotiated.mediaType },
    body: isYaml ? await toYaml(json) : json,
  };
}

/** A Status as an answer. */
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

/** What was thrown, as a StatusError: what is not one is an internal error that names its cause. */
export function toStatusError(error: unknown): StatusError {
  if (isStatusError(error)) return error;
  return internalError(messageOf(error));
}

/** The shape of the answers to a call. */
export function shapeOf(backend: Backend, call: ResourceCall): Shape {
  return shapeFor(call.definition, call.negotiated, {
    includeObject: call.query.get('includeObject'),
    now: () => backend.clock.now(),
  });
}

/** One object as an answer. */
export function objectReply(
  backend: Backend,
  call: ResourceCall,
  answer: { status: number; rendering: Rendering },
): Promise<Reply> {
  return textReply(answer.status, shapeOf(backend, call).one(answer.rendering), call.negotiated);
}
