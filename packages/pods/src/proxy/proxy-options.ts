import type { AbortOptions } from '@kctl/client';
import { numberProblem, requireOptions, shownValue, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Options of {@link proxyRequest}. */
export interface ProxyOptions extends AbortOptions {
  /** @default 'GET' */
  readonly method?: (typeof methods)[number];
  /** Path of the request to the pod, with an optional query. Unescaped characters are escaped. @default '/' */
  readonly path?: string;
  /** Fields of the query; they are added to those of `path`. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Of a pod a number; of a Service the Service's port, by number or name. @default of a pod the first port of its
   * containers, else that of the scheme; of a Service the port without a name
   */
  readonly port?: number | string;
  /** How the API server speaks to the pod; the certificate of a pod is not verified. @default 'http' */
  readonly scheme?: 'http' | 'https';
  /** Further headers. `authorization` does not reach the pod, because the API server uses it for itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** With `content-type` among the headers. @default none */
  readonly body?: string | Uint8Array;
  /**
   * For a response that continues, such as server-sent events, without a deadline between two chunks of it.
   *
   * @default false
   */
  readonly follow?: boolean;
}

const optionNames: OptionNames<ProxyOptions> = {
  method: true,
  path: true,
  query: true,
  port: true,
  scheme: true,
  headers: true,
  body: true,
  follow: true,
  signal: signalOption,
};

/** Headers that the client sets itself, or the API server does not forward. */
const reservedHeaders = ['authorization', 'user-agent', 'host', 'content-length', 'connection', 'upgrade'];

/** A base that no path leads out of. */
const base = 'http://pod';

/** @throws TypeError naming each option that is not valid */
export function checkProxyOptions(options: ProxyOptions): void {
  requireOptions('proxyRequest', options, optionNames);
  const { method = 'GET', path = '/', port, scheme = 'http', headers = {}, body, query = {} } = options;
  const problems = [
    methods.includes(method) ? undefined : `method ${shownValue(method)} is not one of ${methods.join(', ')}`,
    ['http', 'https'].includes(scheme) ? undefined : `scheme ${shownValue(scheme)} is not one of http, https`,
    URL.parse(path, base)?.origin === base
      ? undefined
      : `path ${shownValue(path)} is not valid: expected a path such as /metrics`,
    portProblem(port),
    ...Object.keys(headers).map(headerProblem),
    ...Object.entries(query).map(([name, value]) =>
      typeof value === 'string' || Array.isArray(value)
        ? undefined
        : `query.${name} ${shownValue(value)} is not valid: expected a string, or several`,
    ),
    body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
      ? `body is not valid: expected a string or a Uint8Array`
      : undefined,
    body !== undefined && (method === 'GET' || method === 'HEAD')
      ? `body cannot be sent with ${method}: set method, such as POST`
      : undefined,
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`proxyRequest: ${problems.join('; ')}`);
}

function portProblem(port: number | string | undefined): string | undefined {
  if (port === undefined) return undefined;
  if (typeof port === 'number') return numberProblem('port', port, { least: 1, most: 65_535, integer: true });
  const isName = typeof port === 'string' && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(port);
  return isName ? undefined : `port ${shownValue(port)} is not valid: expected a number, or the name of a port`;
}

function headerProblem(given: string): string | undefined {
  const name = given.toLowerCase();
  return reservedHeaders.includes(name) || name.startsWith('impersonate-')
    ? `headers: ${name} does not reach the pod: leave it out`
    : undefined;
}

/** The path and query that the pod sees. */
export function targetOf({ path = '/', query = {} }: ProxyOptions): string {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query))
    for (const each of typeof value === 'string' ? [value] : value) url.searchParams.append(name, each);
  return url.pathname + url.search;
}
