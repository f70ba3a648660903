import { StatusError } from '@kctl/apimachinery';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { PodResponse, PodsClient } from '../client.js';
import { maxErrorBytes, parseStatus } from '../client.js';
import { PodTargetError } from '../errors.js';
import { podKeyOf, resolvePod } from '../target.js';
import type { PodTarget } from '../target.js';
import { checkProxyOptions, targetOf } from './proxy-options.js';
import type { ProxyOptions } from './proxy-options.js';
import { requireTransportTo } from '../require-target.js';

/**
 * Sends a request to an HTTP server in a pod, through the API server by `GET …/pods/<name>:<port>/proxy/<path>`; for a
 * Service by `…/services/<name>:<port>/proxy/<path>`, for which the API server chooses one of its endpoints. For
 * another workload it is the pod that {@link resolvePod} takes. Mirrors `ProxyGet` of client-go, with every method.
 *
 * Resolves with the pod's answer, whatever its code, once its headers are there; redirects are not followed. Read the
 * body to its end, or cancel it, because until then it holds a connection. Aborting the signal ends it. A request is
 * sent once. It is retried only if the API server rejects it with 429, and a GET if its connection is lost. It needs
 * the right to `get` (GET, HEAD), `create` (POST), `update` (PUT), `patch` or `delete` `pods/proxy` or
 * `services/proxy`.
 *
 * @throws StatusError for errors of the API server itself, such as 403, 404, 400 for a pod without an address, 503 if
 * no endpoint is ready or nothing listens; PodTargetError; TypeError naming the invalid option; the signal's reason
 *
 * @example
 * ```ts
 * import { Service } from '@kctl/apimachinery/kinds/core/v1';
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 * import { proxyRequest } from '@kctl/pods';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const web = { kind: Service, namespace: 'shop', name: 'web' };
 * const response = await proxyRequest(client, web, { port: 'metrics', path: '/metrics' });
 * console.log(response.status, await response.text());
 * ```
 */
export async function proxyRequest(
  client: PodsClient,
  target: PodTarget,
  options: ProxyOptions = {},
): Promise<Response> {
  requireTransportTo('proxyRequest', client, target);
  checkProxyOptions(options);
  const { method = 'GET', body, follow = false, signal } = options;
  const { accept = '*/*', 'content-type': contentType, ...headers } = lowerCased(options.headers ?? {});
  const path = (await proxyPathOf(client, target, options)) + targetOf(options);
  const response = await client.transport.send({
    method,
    path,
    accept,
    ...(contentType === undefined ? {} : { contentType }),
    ...(body === undefined ? {} : { body }),
    headers,
    expect: follow ? 'watch' : 'list',
    once: true,
    signal,
  });
  return await asResponse(response, method);
}

async function proxyPathOf(
  client: PodsClient,
  target: PodTarget,
  { scheme, port, signal }: ProxyOptions,
): Promise<string> {
  const isService =
    !('metadata' in target) &&
    'kind' in target &&
    target.kind.kind === Service.kind &&
    target.kind.group === Service.group;
  const { namespace, name } = isService ? target : (await podOf(client, target, signal)).metadata;
  if (name === '') throw new PodTargetError('proxyRequest: the target has no name');
  const id = scheme === undefined ? (port === undefined ? name : `${name}:${port}`) : `${scheme}:${name}:${port ?? ''}`;
  const plural = isService ? 'services' : 'pods';
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(id)}/proxy`;
}

/** A key identifies the pod itself, which need not be read then, so no right to read it is needed. */
async function podOf(
  client: PodsClient,
  target: PodTarget,
  signal: AbortSignal | undefined,
): Promise<{ readonly metadata: { readonly namespace: string; readonly name: string } }> {
  const key = podKeyOf(target);
  if (key !== undefined) return { metadata: key };
  return await resolvePod(client, target, signal === undefined ? {} : { signal });
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const withoutBody = new Set([204, 205, 304]);

/** The response as a Fetch response. @throws StatusError if it is the API server's own */
async function asResponse({ status, headers, body }: PodResponse, method: string): Promise<Response> {
  const chunks = body[Symbol.asyncIterator]();
  const isEmpty = method === 'HEAD' || withoutBody.has(status);
  if (isEmpty) {
    await chunks.return?.();
    return new Response(null, { status, headers: headersOf(headers) });
  }
  const isJson = String(headers['content-type'] ?? '').startsWith('application/json');
  const begun = status >= 400 && isJson ? await beginningOf(chunks) : [];
  const said = begun.length === 0 ? undefined : parseStatus(Buffer.concat(begun).toString());
  if (said?.kind === 'Status' && said.apiVersion === 'v1') throw new StatusError(said);
  return new Response(streamOf(begun, chunks), { status, headers: headersOf(headers) });
}

/** The bytes of a failure, up to what a Status may have. */
async function beginningOf(chunks: AsyncIterator<readonly Uint8Array[]>): Promise<Uint8Array[]> {
  const read: Uint8Array[] = [];
  let length = 0;
  while (length <= maxErrorBytes) {
    const next = await chunks.next();
    if (next.done === true) break;
    for (const chunk of next.value) {
      read.push(chunk);
      length += chunk.length;
    }
  }
  return read;
}

function streamOf(begun: readonly Uint8Array[], chunks: AsyncIterator<readonly Uint8Array[]>): ReadableStream {
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of begun) controller.enqueue(chunk);
    },
    pull: async (controller) => {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else for (const chunk of next.value) controller.enqueue(chunk);
    },
    cancel: async () => {
      await chunks.return?.();
    },
  });
}

const ofEncoding = ['content-encoding', 'content-length'];

function headersOf(given: PodResponse['headers']): Headers {
  const headers = new Headers();
  for (const [name, value = []] of Object.entries(given))
    for (const each of typeof value === 'string' ? [value] : value) headers.append(name, asByteString(each));
  // The transport has decompressed it.
  if (headers.get('content-encoding') === 'gzip') for (const name of ofEncoding) headers.delete(name);
  return headers;
}

/** Headers accept only bytes, as `fetch` returns them. Other characters would throw. */
function asByteString(text: string): string {
  return /[^\u0000-\u00ff]/.test(text) ? Buffer.from(text).toString('latin1') : text;
}
