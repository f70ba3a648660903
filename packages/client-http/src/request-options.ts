import { noopLogger } from '@kctl/telemetry';
import { guardLogger, loggerOption } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import {
  functionOption,
  listOption,
  numberProblem,
  objectOption,
  requireOptions,
  textOption,
  textsOption,
} from '@kctl/options';
import type { OptionCheck, OptionNames } from '@kctl/options';
import { createHttpClient } from './http-client.js';
import type { HttpClient } from './http-client.js';
import { callHook } from './transport/guarded-hooks.js';
import type { Transport, TransportRequest } from './transport/transport.js';

/** An answer, without its body. */
export interface ResponseFacts {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly status: number;
  /** All headers, by their lower-case names, such as `audit-id`. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Options of {@link withRequestOptions}. */
export interface RequestOptions {
  /** Further headers. Those of the transport win (credentials, impersonation, user agent). */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of the query, for what a client has no option for; they take the place of those of the same name. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** How often a request is repeated at most; 0 never repeats. @default that of the transport */
  readonly maxRetries?: number;
  /** Called with each answer, failures included, before the call that caused it goes on; what it throws is logged. */
  readonly onResponse?: (response: ResponseFacts) => void;
  /** @default noopLogger */
  readonly logger?: Logger;
}

const textsOfField = listOption('a string, or several', textOption);

const queryOption: OptionCheck = (name, value) =>
  objectOption('an object of strings')(name, value) ??
  Object.entries(typeof value === 'object' && value !== null ? value : {})
    .map(([field, each]) => (typeof each === 'string' ? undefined : textsOfField(`${name}.${field}`, each)))
    .find((problem) => problem !== undefined);

const optionNames: OptionNames<RequestOptions> = {
  headers: textsOption,
  query: queryOption,
  maxRetries: true,
  onResponse: functionOption,
  logger: loggerOption,
};

/** Headers that a transport sets itself. */
const ownHeaders = ['authorization', 'user-agent', 'accept', 'content-type', 'host', 'content-length'];

/**
 * Returns the same client with other options for its requests (further headers and query fields, retries, the headers
 * of answers). Mirrors `Param`, `SetHeader` and `MaxRetries` of client-go's `rest.Request`. It costs nothing, so that
 * one can be made for a single call; disposing it does not dispose the client.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createHttpClient, loadConnection, withRequestOptions } from '@kctl/client-http';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const pretty = withRequestOptions(client, {
 *   query: { pretty: 'true' },
 *   maxRetries: 0,
 *   onResponse: ({ headers }) => console.log(headers['audit-id']),
 * });
 * await pretty.get(Pod, { namespace: 'shop', name: 'web-0' });
 * ```
 */
export function withRequestOptions(client: Pick<HttpClient, 'transport'>, options: RequestOptions): HttpClient {
  requireOptions('withRequestOptions', options, optionNames);
  const { maxRetries, onResponse, query = {} } = options;
  const logger = guardLogger(options.logger ?? noopLogger);
  const headers = checkedHeaders(options.headers ?? {});
  const problem = numberProblem('maxRetries', maxRetries ?? 0, { integer: true, orInfinity: true });
  if (problem !== undefined) throw new TypeError(`withRequestOptions: ${problem}`);
  const inner = (client as Partial<typeof client> | undefined)?.transport;
  if (typeof inner?.send !== 'function')
    throw new TypeError('withRequestOptions: the client has no transport: expected one that createHttpClient returns');
  const transport: Transport = {
    server: inner.server,
    send: async (request) => {
      const response = await inner.send({
        ...request,
        path: withFields(request.path, query),
        headers: { ...request.headers, ...headers },
        ...(maxRetries === undefined ? {} : { maxRetries }),
      });
      const { status } = response;
      const facts = { method: request.method, path: pathOf(request), status, headers: response.headers };
      callHook(
        () => onResponse?.(facts),
        (error) => logger.error('onResponse failed', { error }),
      );
      return response;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return createHttpClient({ transport });
}

function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  for (const [name] of entries)
    if (ownHeaders.includes(name) || name.startsWith('impersonate-'))
      throw new TypeError(`withRequestOptions: headers: ${name} is set by the transport: use its options`);
  return Object.fromEntries(entries);
}

function withFields(path: string, fields: NonNullable<RequestOptions['query']>): string {
  const names = Object.keys(fields);
  if (names.length === 0) return path;
  const [base = '', text = ''] = path.split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  for (const name of names) {
    const value = fields[name] ?? [];
    query.delete(name);
    for (const each of typeof value === 'string' ? [value] : value) query.append(name, each);
  }
  const joined = query.toString();
  return joined === '' ? base : `${base}?${joined}`;
}

function pathOf({ path }: TransportRequest): string {
  return path.split('?', 1)[0] ?? path;
}
