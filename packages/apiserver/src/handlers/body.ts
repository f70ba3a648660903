import { parseBody, type ParsedBody } from '../codecs/body.js';
import { JsonSyntaxError } from '../codecs/strict-json.js';
import { badRequest } from '../registry/status.js';
import type { ResourceCall } from './call.js';

function quoteStart(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)} ...` : text;
}

/** The body of a write, read. @throws StatusError 400, 413, 415 */
export async function readWriteBody(call: ResourceCall): Promise<ParsedBody> {
  const { request, definition } = call;
  const bytes = await request.readBody();
  try {
    return await parseBody(bytes, request.header('content-type'));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const text = quoteStart(new TextDecoder().decode(bytes));
    const what = `couldn't get version/kind; json parse error: ${error.message}`;
    throw badRequest(
      definition.isCustom
        ? `the object provided is unrecognized (must be of type ${definition.kind}): ${what} (${text})`
        : what,
    );
  }
}
