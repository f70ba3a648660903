import type { Duplex } from 'node:stream';
import { StatusError } from '@kctl/apimachinery';
import { typedStatus } from '@kctl/apimachinery/internal';
import type { Status } from '@kctl/apimachinery';
import type { Reader } from '@kctl/client';

/** A request about a pod. */
export interface PodRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Path below the server's address, with query. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array;
  readonly expect?: 'list' | 'watch';
  readonly once?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly upgrade?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Its answer. */
export interface PodResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<readonly Uint8Array[]>;
  /** The connection, if the server has switched protocols. */
  readonly socket?: Duplex;
}

/** Sends the requests, such as the transport of `@kctl/client-http`, or another that can upgrade connections. */
export interface PodTransport {
  send(request: PodRequest): Promise<PodResponse>;
}

/** A client with a transport, for example that of `createHttpClient`. */
export interface PodsClient extends Pick<Reader, 'get' | 'list'> {
  readonly transport: PodTransport;
}

/** Number of bytes read from an unsuccessful response. */
export const maxErrorBytes: number = 1024 * 1024;

/** Returns the failure of a response. */
export async function failureOf(response: PodResponse, what: string): Promise<StatusError> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const batch of response.body) {
    for (const chunk of batch) {
      chunks.push(chunk);
      length += chunk.length;
    }
    if (length > maxErrorBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, maxErrorBytes).toString();
  const status = parseStatus(text);
  if (status !== undefined) return new StatusError({ code: response.status, ...status });
  const said = text.trim() === '' ? '' : `: ${text.trim().slice(0, 300)}`;
  const message = `${what}: the server answers with ${response.status}${said}`;
  return new StatusError({ status: 'Failure', code: response.status, message });
}

/** A Status, if the body is one. */
export function parseStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isStatus(value) ? typedStatus(value) : undefined;
  } catch {
    return undefined;
  }
}

function isStatus(value: unknown): value is Status {
  return (
    typeof value === 'object' &&
    value !== null &&
    'status' in value &&
    (value.status === 'Success' || value.status === 'Failure')
  );
}
