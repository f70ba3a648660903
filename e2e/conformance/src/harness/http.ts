/** Raw HTTPS to a Kubernetes API, with nothing between a case and the wire. */
import { Agent, request as send } from 'undici';
import type { Doc } from './doc.js';

export interface Credentials {
  readonly token?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface SendOptions {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON. @throws when it is not JSON */
  readonly body: Doc;
  /** The texts of the `Warning: 299` headers. */
  readonly warnings: readonly string[];
}

export interface Connection {
  readonly url: string;
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** Sends and hands out the body as it comes. */
  open(path: string, options?: SendOptions): Promise<OpenAnswer>;
  close(): Promise<void>;
}

/** A request whose connection ended without an answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly request: string;

  constructor(request: string, url: string, cause: unknown) {
    super(`${request} on ${url} has no answer`, { cause });
    this.request = request;
  }
}

export interface OpenAnswer {
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  text(): Promise<string>;
}

export function pathWithQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
      parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}

export function connect(url: string, caPem: string | undefined, credentials: Credentials): Connection {
  const agent = new Agent({
    connect: {
      ...(caPem === undefined ? {} : { ca: caPem }),
      ...(credentials.certPem === undefined ? {} : { cert: credentials.certPem, key: credentials.keyPem }),
    },
    allowH2: false,
    headersTimeout: 90_000,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
  });

  const start = async (method: string, path: string, options: SendOptions) => {
    const { body, contentType, accept = 'application/json' } = options;
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const target = pathWithQuery(path, options.query);
    const request = `${method} ${readable(target)}`;
    const answer = await send(`${url}${target}`, {
      method: method as 'GET',
      dispatcher: agent,
      headers: {
        // '' = no Accept header at all; undici would send an empty one.
        ...(accept === '' ? {} : { accept }),
        ...(credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` }),
        ...(body === undefined || contentType === '' ? {} : { 'content-type': contentType ?? 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }).catch((cause: unknown) => {
      throw new NoAnswer(request, url, cause);
    });
    return { request, answer };
  };

  return {
    url,
    async send(method, path, options = {}) {
      const { request, answer } = await start(method, path, options);
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      const text = bytes.toString('utf8');
      return {
        request,
        status: answer.statusCode,
        headers: answer.headers,
        bytes,
        text,
        get body(): Doc {
          try {
            return JSON.parse(text) as Doc;
          } catch {
            throw new Error(`${request}: ${answer.statusCode}, not JSON: ${text.slice(0, 500)}`);
          }
        },
        warnings: parseWarnings(answer.headers['warning']),
      };
    },
    async open(path, options = {}) {
      const { request, answer } = await start('GET', path, options);
      return {
        request,
        status: answer.statusCode,
        headers: answer.headers,
        body: answer.body,
        text: () => answer.body.text(),
      };
    },
    close: () => agent.destroy(),
  };
}

/** As people write it, where it can be decoded. */
function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** `299 - "text"`, several of them in one header or in several. */
function parseWarnings(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return [header]
    .flat()
    .flatMap((line) =>
      [...line.matchAll(/299 \S+ ("(?:[^"\\]|\\.)*")/g)].map((match) => JSON.parse(match[1] ?? '""') as string),
    );
}
