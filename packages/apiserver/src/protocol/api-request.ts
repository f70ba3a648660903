import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Sink } from './sink.js';

/** Who makes a request. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  /** Further facts of the authenticator, by key, such as the pod of a token and the additions of an impersonator. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A request as it arrives, whatever the transport. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** The value of a header by its lower-case name. */
  header(name: string): string | undefined;
  /** Each header line, its name in lower case; of HTTP/2 without the pseudo-headers. */
  headers(): readonly (readonly [name: string, value: string])[];
  /** Each header line that begins with `impersonate-`, name in lower case, in the order sent; a repeated header is several lines. */
  impersonation(): readonly (readonly [name: string, value: string])[];
  /** The whole body. @throws StatusError 413 beyond the limit */
  readBody(): Promise<Uint8Array>;
  /** Called once the request is authenticated. A transport trusts its connection from then on. */
  onAuthenticated?(): void;
  /** The user that a verified client certificate, or the transport itself, names. */
  readonly peer: User | undefined;
  /** Aborted when the client went away. */
  readonly signal: AbortSignal;
  /**
   * Whether the transport can hand over its connection to another protocol, as its `Upgrade` header requests. @default
   * false
   */
  readonly canUpgrade?: boolean;
}

/** A connection that an answer takes over. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Data that has arrived behind the request. */
  readonly head: Buffer;
}

/** Header names in lower case. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer, whatever the transport. */
export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body?: string | Uint8Array;
  /** Writes a body that is too long, or too endless, to be one string. Resolves when it is done. */
  readonly stream?: (sink: Sink) => Promise<void>;
  /** Whether the stream is one long document, worth compressing; a watch is not. @default false */
  readonly isLong?: boolean;
  /** Takes the connection over, instead of an answer. Only for a request that can upgrade. Resolves when it is done. */
  readonly upgrade?: (upgrade: Upgrade) => Promise<void>;
  /** Cut the connection instead of answering. */
  readonly destroy?: boolean;
  /** Send only this many bytes of the body, then cut the connection. */
  readonly truncateAfter?: number;
}
