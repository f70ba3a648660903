// The subresource `proxy` of pods, Services and nodes. Scripts answer for the ports of pods.
import type { IncomingMessage } from 'node:http';
import { normalize } from 'node:path/posix';
import { stringOf } from '@kctl/crd/internal/engine';
import { messageOf } from '@kctl/telemetry/internal';
import type { AdmittedCall } from '../../handlers/admission.js';
import type { Backend } from '../../handlers/call.js';
import { commonHeaders } from '../../protocol/plain-reply.js';
import { notImplemented } from '../../protocol/status.js';
import type { Reply, ReplyHeaders } from '../../protocol/api-request.js';
import { pathSegments, splitTarget } from '../../protocol/request-info.js';
import { serviceUnavailable } from '../../protocol/http-statuses.js';
import { admitConnect } from '../admit-connect.js';
import { refusedDial } from '../place.js';
import { forwardRequest } from './forward.js';
import { locate, type Location } from './location.js';

/** Headers of one connection, which a proxy does not hand on. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** How many segments are before those that a pod sees: `api/v1/namespaces/<ns>/pods/<name>/proxy`. */
const namespacedSegments = 7;
const clusterSegments = 5;

/** Parts of a call that count here. */
export type ProxyCall = AdmittedCall;

/** Returns the answer of the pod. @throws StatusError 400, 404; 503 if nothing listens */
export async function answerProxy(backend: Backend, call: ProxyCall): Promise<Reply> {
  const { request, path } = call;
  const { path: rawPath } = splitTarget(request.target);
  const search = request.target.slice(rawPath.length);
  const segments = pathSegments(rawPath);
  const own = path.namespace === '' ? clusterSegments : namespacedSegments;
  const prefix = escaped(`/${segments.slice(0, own).join('/')}`);
  const asked = segments.slice(own);
  const target = (await admittedPath(backend, call, asked)) ?? targetPath(asked, rawPath.endsWith('/'));
  const location = locate(backend, call);
  if (ofUpgrade(call)) throw notImplemented('an upgrade through proxy is not implemented by this server');
  const { method } = request;
  if (target === '' && (method === 'GET' || method === 'HEAD'))
    return { status: 301, headers: { ...commonHeaders, location: `${rawPath}/${search}` } };
  const accept = location.pod === undefined ? undefined : backend.pods.findPort(location.pod, location.port);
  if (accept === undefined) throw unreachable(refusedDial(location.host));
  const gone = new AbortController();
  const signal = AbortSignal.any([request.signal, backend.watch.stopping, gone.signal]);
  try {
    const answer = await forwardRequest(accept, {
      scheme: location.scheme,
      method,
      path: (target === '' ? '/' : target) + search,
      headers: { ...handedOn(call), 'x-forwarded-uri': prefix + target },
      body: await request.readBody(),
      signal,
    });
    return replyOf(answer, { location, prefix, leave: () => gone.abort() });
  } catch (error) {
    throw unreachable(messageOf(error));
  }
}

/** The path that admission leaves, if it has changed it. @throws StatusError */
async function admittedPath(backend: Backend, call: ProxyCall, asked: readonly string[]): Promise<string | undefined> {
  const proxy = call.definition.subresources.get('proxy');
  if (proxy?.type !== 'connect') return undefined;
  const isOpen = splitTarget(call.request.target).path.endsWith('/');
  const below = asked.length === 0 ? '' : `/${asked.join('/')}`;
  const options = await admitConnect(backend, call, {
    subresource: 'proxy',
    kind: proxy.kind,
    path: isOpen ? `${below}/` : below,
  });
  if (options === undefined) return undefined;
  const path = stringOf(options['path']);
  return targetPath(pathSegments(path), path.endsWith('/'));
}

function ofUpgrade({ request }: ProxyCall): boolean {
  return request.canUpgrade === true && (request.header('upgrade') ?? '') !== '';
}

function unreachable(why: string): Error {
  return serviceUnavailable(`error trying to reach service: ${why}`);
}

/** The path that the pod sees; '' for none. */
function targetPath(segments: readonly string[], endsWithSlash: boolean): string {
  const joined = segments.length === 0 ? '' : normalize(`/${segments.join('/')}`);
  return escaped(endsWithSlash && !joined.endsWith('/') ? `${joined}/` : joined);
}

/** A path as Go escapes it. */
function escaped(path: string): string {
  return encodeURIComponent(path)
    .replace(/%(?:2F|24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The headers of a request that go on to the pod, without those that identify the user. */
function handedOn({ request }: ProxyCall): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const named = new Set((request.header('connection') ?? '').toLowerCase().split(/\s*,\s*/));
  for (const [name, value] of request.headers()) {
    if (ofConnection.has(name) || named.has(name) || name === 'authorization' || name === 'content-length') continue;
    if (name.startsWith('impersonate-')) continue;
    const present = headers[name];
    headers[name] = present === undefined ? value : [present, value].flat();
  }
  const host = request.header('host') ?? request.header(':authority');
  return host === undefined ? headers : { ...headers, host };
}

interface Answered {
  readonly location: Location;
  readonly prefix: string;
  /** Ends the exchange with the pod. */
  readonly leave: () => void;
}

function replyOf(answer: IncomingMessage, { location, prefix, leave }: Answered): Reply {
  const headers: Record<string, string | readonly string[]> = { ...commonHeaders };
  for (const [name, values = []] of Object.entries(answer.headersDistinct))
    if (!ofConnection.has(name)) headers[name] = values.length === 1 ? (values[0] ?? '') : values;
  const { location: redirect } = answer.headers;
  if (redirect !== undefined) headers['location'] = rewritten(redirect, location, prefix);
  return {
    status: answer.statusCode ?? 502,
    headers: headers satisfies ReplyHeaders,
    stream: async (sink) => {
      sink.closed.addEventListener('abort', leave, { once: true });
      try {
        const chunks: AsyncIterable<Buffer> = answer;
        for await (const chunk of chunks) {
          sink.write(chunk);
          await sink.drained();
        }
        sink.end();
      } catch {
        sink.destroy();
      }
    },
  };
}

/** A redirect within the pod leads through the proxy again. */
function rewritten(redirect: string, { scheme, host }: Location, prefix: string): string {
  const own = `${scheme}://${host}`;
  const path = redirect === own || redirect.startsWith(`${own}/`) ? redirect.slice(own.length) : redirect;
  return path.startsWith('/') && !path.startsWith('//') && !path.startsWith(prefix) ? prefix + path : path;
}
