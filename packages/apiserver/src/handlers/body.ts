import { parseBody, type ParsedBody } from '../codecs/body.js';
import { JsonSyntaxError } from '../codecs/strict-json.js';
import { badRequest } from '../registry/status.js';
import type { ResourceCall } from './call.js';

const summaryBytes = 30;

/** The start of a body, as upstream quotes it: text where it looks like an object, hexadecimal otherwise. */
export function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const start = Buffer.from(bytes.subarray(0, summaryBytes));
  const text = start.toString(start[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > summaryBytes ? `${text} ...` : text;
}

/** The body of a write, read. @throws StatusError 400, 413, 415 */
export async function readWriteBody(call: ResourceCall): Promise<ParsedBody> {
  const { request, definition } = call;
  const bytes = await request.readBody();
  try {
    return await parseBody(bytes, request.header('content-type'));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; json parse error: ${error.message} (${summarize(bytes)})`,
    );
  }
}
