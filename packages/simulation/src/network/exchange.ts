import type { ReconcileActivity, Scope } from '../scope.js';
import type { DispatchCallbacks, DispatchControl, DispatchedRequest } from '@kctl/client-http';
import { parseTarget, type Target } from './target.js';

/** What befalls one request on its way. */
export type Mishap =
  /** The connection breaks before the server has the request. */
  | { readonly type: 'cut-before' }
  /** The server does what was asked; the connection breaks before the answer. */
  | { readonly type: 'cut-after' }
  /** The request vanishes: no answer, no error. */
  | { readonly type: 'lost' }
  /** The server does what was asked; its answer vanishes. */
  | { readonly type: 'answer-lost' }
  /** Of a watch: its headers arrive, and nothing after them. */
  | { readonly type: 'silent' }
  /** Of a watch: the bookmark that ends its initial events comes late, and so do those that follow. */
  | { readonly type: 'late'; readonly ms: number }
  /** Request and answer take longer. */
  | { readonly type: 'slow'; readonly requestMs: number; readonly answerMs: number }
  /** The answer breaks off after a share of its bytes. */
  | { readonly type: 'truncated'; readonly share: number }
  /** It is answered from the past. */
  | { readonly type: 'stale'; readonly revisions: number }
  /** Something else happens once the server has executed it. */
  | { readonly type: 'then'; readonly then: () => void }
  /** The server refuses it, before or after it did what was asked. */
  | {
      readonly type: 'status';
      readonly code: number;
      readonly reason: string;
      readonly retryAfterSeconds?: number;
      readonly executed: boolean;
    };

/** What befalls one watch while it is open. */
export type WatchMood =
  /** Nothing arrives from here on, and nothing says so. */
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
  /** By how much bookmarks are late where they are, in ms. */
  lateMs = 0;
  /** When its client had the last byte, or gave it up, in ms since the world began; from then on nothing reaches it. */
  closedAt: number | undefined;
  /** No connection is made yet: its client may have given it up without a word to the network. */
  isConnecting = false;
  /** The server has nothing left to do for it. */
  isServed = false;
  /** Answered with this status; 0 before. */
  status = 0;
  /** Of its last delivery: bytes of one connection stay in order. */
  deliveredAt = 0;
  /** What the client stops it with; set before anything is delivered. */
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

  /** Ends what the server does for it; made where the server asks for it. */
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
