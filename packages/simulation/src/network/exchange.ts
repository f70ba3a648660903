import type { ReconcileActivity, Scope } from '../scope.js';
import type { DispatchCallbacks, DispatchControl, DispatchedRequest } from '@kctl/client-http';
import { parseTarget, type Target } from './target.js';

/** Fault of one request on its way. */
export type Mishap =
  /** The connection breaks before the server has the request. */
  | { readonly type: 'cut-before' }
  /** The server handles the request; the connection breaks before the response. */
  | { readonly type: 'cut-after' }
  /** The request vanishes without a response or an error. */
  | { readonly type: 'lost' }
  /** The server handles the request; its response vanishes. */
  | { readonly type: 'answer-lost' }
  /** For a watch, its headers arrive, and nothing after them. */
  | { readonly type: 'silent' }
  /** For a watch, the bookmark that ends its initial events comes late, and so do those that follow. */
  | { readonly type: 'late'; readonly ms: number }
  /** Request and answer take longer. */
  | { readonly type: 'slow'; readonly requestMs: number; readonly answerMs: number }
  /** The answer breaks off after a share of its bytes. */
  | { readonly type: 'truncated'; readonly share: number }
  /** It is answered from the past. */
  | { readonly type: 'stale'; readonly revisions: number }
  /** Something else happens once the server has executed it. */
  | { readonly type: 'then'; readonly then: () => void }
  /** The server rejects it, before or after handling it. */
  | {
      readonly type: 'status';
      readonly code: number;
      readonly reason: string;
      readonly retryAfterSeconds?: number;
      readonly executed: boolean;
    };

/** Fault of one watch while it is open. */
export type WatchMood =
  /** Nothing arrives from now on, without an error. */
  | 'hanging'
  /** Bookmarks are left out. */
  | 'no-bookmarks'
  /** Bookmarks are held back for a while; one that an event overtakes is left out. */
  | 'late-bookmarks'
  | 'normal';

/** One request of a scope and its answer; a watch lasts until it ends. */
export class Exchange {
  readonly id: number;
  readonly scope: Scope;
  readonly method: string;
  readonly path: string;
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly handler: DispatchCallbacks;
  /** The reconcile that sent it. */
  readonly reconcile: ReconcileActivity | undefined;
  readonly sentAt: number;
  mishap: Mishap | undefined;
  mood: WatchMood = 'normal';
  /** Delay of bookmarks, if they are late, in ms. */
  lateMs = 0;
  /** When its client had the last byte, or gave it up, in ms since the world began; from then on nothing reaches it. */
  closedAt: number | undefined;
  /** No connection has been made yet, so its client may have abandoned it without notifying the network. */
  isConnecting = false;
  /** The server has nothing left to do for it. */
  isServed = false;
  /** Answered with this status; 0 before. */
  status = 0;
  /** Time of its last delivery, because bytes of one connection stay in order. */
  deliveredAt = 0;
  /** Controller with which the client stops it; set before anything is delivered. */
  controller: DispatchControl | undefined;
  /** The dispatcher that carries it. */
  readonly via: object;
  /** The server is notified that its client is gone. */
  isGone = false;
  #serverSide: AbortController | undefined;

  constructor(facts: {
    readonly id: number;
    readonly scope: Scope;
    readonly options: DispatchedRequest;
    readonly handler: DispatchCallbacks;
    readonly via: object;
    readonly reconcile: ReconcileActivity | undefined;
    readonly sentAt: number;
  }) {
    const { id, scope, options, handler, via, reconcile, sentAt } = facts;
    this.id = id;
    this.scope = scope;
    this.method = options.method;
    this.path = options.path;
    this.target = parseTarget(options.method, options.path);
    this.headers = plainHeaders(options.headers);
    this.body = bytesOf(options.body);
    this.handler = handler;
    this.via = via;
    this.reconcile = reconcile;
    this.sentAt = sentAt;
  }

  /** Aborts the server's work for it; created when the server requests it. */
  get serverSide(): AbortController {
    this.#serverSide ??= new AbortController();
    return this.#serverSide;
  }

  endServerSide(reason: Error): void {
    this.isGone = true;
    this.serverSide.abort(reason);
  }

  /** No further byte reaches the client. */
  get isClosed(): boolean {
    return this.closedAt !== undefined;
  }

  get isWatch(): boolean {
    return this.target.verb === 'watch';
  }
}

function plainHeaders(headers: DispatchedRequest['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string') plain[name.toLowerCase()] = value;
    else plain[name.toLowerCase()] = value.join(', ');
  return plain;
}

function bytesOf(body: DispatchedRequest['body']): Uint8Array | undefined {
  return typeof body === 'string' ? Buffer.from(body) : (body ?? undefined);
}
