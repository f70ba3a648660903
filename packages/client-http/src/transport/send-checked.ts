import { isJsonObject } from '@kctl/apimachinery/internal';
import { shownType } from '@kctl/options';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';

/**
 * Sends a request through a transport that may be a user's.
 *
 * @throws TypeError if the transport returns a value that is not a response, which has no status to check and no body
 * to read
 */
export async function sendChecked(transport: Transport, request: TransportRequest): Promise<TransportResponse> {
  const response = await transport.send(request);
  const given: unknown = response;
  const body = isJsonObject(given) ? given['body'] : undefined;
  const isStream = typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
  if (isJsonObject(given) && typeof given['status'] === 'number' && isStream) return response;
  throw new TypeError(
    `send of the transport returned ${shownType(given)}: expected { status, contentType, headers, body }, the body a stream of batches of bytes`,
  );
}
