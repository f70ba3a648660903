import type { ApiServer, DirectReceiver } from '@kctl/apiserver';
import type {
  Connection,
  DispatchCallbacks,
  DispatchControl,
  DispatchedRequest,
  RequestDispatcher,
} from '@kctl/client-http';
import type { Random } from '@kctl/wait';
import { cancel, type Scheduler, type Task } from '../scheduler.js';
import { activities } from './activity.js';
import type { Scope } from '../scope.js';
import { splitBookmarks } from './bookmarks.js';
import { connectionError, dispatchControl, type ConnectionErrorCode } from './dispatcher.js';
import { Exchange, type Mishap } from './exchange.js';

/** Whether the packets of a scope that is cut off vanish, or its connections are refused. */
export type Partition = 'drops' | 'refuses';

/** Callbacks about each request. */
export interface NetworkObserver {
  /** Before it leaves; may decide what befalls it, and may end the scope. */
  sending(exchange: Exchange): void;
  /** Returns its fault, if it goes through. */
  mishapFor(exchange: Exchange): Mishap | undefined;
  /** The server begins to work on it. */
  arrived(exchange: Exchange): void;
  /** The client has the status; 0: the connection broke. */
  answered(exchange: Exchange, status: number, note: string): void;
}

/** Options of {@link Network}. */
export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly server: ApiServer;
  readonly serverScope: Scope;
  readonly random: Random;
  readonly observer: NetworkObserver;
}

/**
 * Minimum latency of one way, in ms; up to {@link spreadMs} is added, so requests on different connections overtake.
 */
const leastMs = 0.2;
const spreadMs = 1.5;
/** How long a connection attempt into nothing takes to fail, in ms. */
const connectTimeoutMs = 30_000;
/** Why the server stops working for a request; one for all, because an error costs its stack. */
const clientGone = new DOMException('the client has gone', 'AbortError');
/** Delay before a user repeats a write that failed because a webhook could not be called, in ms. */
const userRepeatMs = 1000;
/** How long the server keeps a connection whose client is gone without a word, in ms. */
const forgottenMs = 60_000;

/** All connections between scopes and the server, as bytes in virtual time, with their faults. */
export class Network {
  readonly #options: NetworkOptions;
  readonly #partitions = new Map<Scope, Partition>();
  readonly #open = new WeakMap<Scope, Set<Exchange>>();
  #requests = 0;
  #holds = 0;
  #held: (() => void)[] = [];
  /** Whether the server accepts connections. */
  isServerUp = true;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** How a scope finds the server. */
  connectionFor(scope: Scope): Connection {
    return {
      server: 'https://simulated:6443',
      namespace: 'default',
      disableCompression: true,
      newDispatcher: () => new ScopeDispatcher(this, scope),
    };
  }

  /** Requests and watches of a scope that have not ended. */
  openOf(scope: Scope | undefined): ReadonlySet<Exchange> {
    return (scope === undefined ? undefined : this.#open.get(scope)) ?? new Set();
  }

  /** Cuts a scope off, or heals it. Data in transit while its packets vanished stays lost. */
  partition(scope: Scope, partition: Partition | undefined): void {
    if (partition === undefined) this.#partitions.delete(scope);
    else this.#partitions.set(scope, partition);
    if (partition === undefined) return;
    for (const exchange of [...this.openOf(scope)]) {
      if (partition === 'refuses') this.fail(exchange, 'UND_ERR_SOCKET');
      else this.#strand(exchange);
    }
  }

  isPartitioned(scope: Scope): boolean {
    return this.#partitions.has(scope);
  }

  /** Breaks every connection to the server, as when its process ends. */
  cutAll(scopes: Iterable<Scope>): void {
    for (const scope of scopes)
      if (scope.kind === 'replica')
        for (const exchange of [...this.openOf(scope)]) this.fail(exchange, 'UND_ERR_SOCKET');
  }

  /** Closes the connections of a dead scope, so that the server sees them end. */
  bury(scope: Scope): void {
    for (const exchange of [...this.openOf(scope)]) this.#close(exchange);
  }

  /** Breaks one connection. */
  fail(exchange: Exchange, code: ConnectionErrorCode): void {
    if (exchange.isClosed) return;
    this.#toClient(exchange, () => {
      this.#close(exchange);
      this.#options.observer.answered(exchange, 0, code);
      this.#callError(exchange, connectionError(code));
    });
  }

  /** Keeps the requests of users from the server until the returned function is called. */
  holdUsers(): () => void {
    this.#holds++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds--;
      if (this.#holds === 0) for (const go of this.#held.splice(0)) go();
    };
  }

  /** Ends a watch properly. */
  end(exchange: Exchange): void {
    exchange.endServerSide(clientGone);
    this.#toClient(exchange, () => this.#finish(exchange));
  }

  /** Nothing arrives in either direction from here on; the client is left to find out. */
  hang(exchange: Exchange): void {
    this.#strand(exchange);
  }

  /** Fails the requests of a dispatcher on the client's side, whatever its connections do. */
  destroy(via: object, scope: Scope): void {
    for (const exchange of [...this.openOf(scope)]) {
      if (exchange.via !== via) continue;
      this.#close(exchange);
      this.#options.scheduler.post(scope, () =>
        scope.enter(() => this.#callError(exchange, connectionError('UND_ERR_DESTROYED'))),
      );
    }
  }

  dispatch(scope: Scope, request: { options: DispatchedRequest; handler: DispatchCallbacks; via: object }): void {
    const { scheduler, observer } = this.#options;
    if (scope.isDead) return;
    const { handler } = request;
    const reconcile = activities.getStore()?.reconcile;
    const exchange = new Exchange({ id: ++this.#requests, scope, ...request, reconcile, sentAt: scheduler.now });
    exchange.controller = dispatchControl(() => this.#close(exchange));
    observer.sending(exchange);
    if (scope.isDead) return;
    this.#open.set(scope, (this.#open.get(scope) ?? new Set()).add(exchange));
    if (this.#refuse(exchange)) return;
    exchange.mishap = observer.mishapFor(exchange);
    handler.onRequestStart(controllerOf(exchange));
    if (exchange.isClosed) return;
    if (exchange.mishap?.type === 'lost') {
      exchange.mood = 'hanging';
      return;
    }
    if (exchange.mishap?.type === 'cut-before') {
      this.fail(exchange, 'UND_ERR_SOCKET');
      return;
    }
    const slow = exchange.mishap?.type === 'slow' ? exchange.mishap.requestMs : 0;
    scheduler.after(this.#options.serverScope, this.#latency(exchange) + slow, () => this.#arrive(exchange));
  }

  /** If no connection can be made, the request never leaves. */
  #refuse(exchange: Exchange): boolean {
    const partition = this.#partitions.get(exchange.scope);
    const { random, scheduler } = this.#options;
    if (partition === 'drops') {
      if (random() < 0.5) {
        exchange.mood = 'hanging';
        exchange.handler.onRequestStart(controllerOf(exchange));
      } else {
        exchange.isConnecting = true;
        scheduler.after(exchange.scope, connectTimeoutMs, () => this.fail(exchange, 'UND_ERR_CONNECT_TIMEOUT'));
      }
      return true;
    }
    if (partition === undefined && (this.isServerUp || exchange.scope.kind === 'user')) return false;
    this.fail(exchange, 'ECONNREFUSED');
    return true;
  }

  #arrive(exchange: Exchange): void {
    const { server, serverScope, observer } = this.#options;
    if (this.#holds > 0 && exchange.scope.kind === 'user') {
      this.#held.push(() => this.#arrive(exchange));
      return;
    }
    if (!this.isServerUp && exchange.scope.kind !== 'user') {
      this.fail(exchange, 'UND_ERR_SOCKET');
      return;
    }
    const { mishap } = exchange;
    if (mishap?.type === 'status' && !mishap.executed) {
      this.#answerStatus(exchange, mishap);
      return;
    }
    observer.arrived(exchange);
    const user = { name: `system:serviceaccount:default:${exchange.scope.name}`, groups: ['system:masters'] };
    const stale =
      mishap?.type === 'stale'
        ? server.faults.add({ action: { type: 'staleRead', revisionsBehind: mishap.revisions } })
        : undefined;
    activities.run({ scope: serverScope, cause: exchange }, () => {
      const served = server.answer(
        {
          method: exchange.method,
          target: exchange.path,
          headers: exchange.headers,
          ...(exchange.body === undefined ? {} : { body: exchange.body }),
          user,
          get signal() {
            return exchange.serverSide.signal;
          },
          isGone: () => exchange.isGone,
        },
        exchange.isWatch ? this.#watchReceiver(exchange) : this.#receiver(exchange),
      );
      void served.then(() => {
        exchange.isServed = true;
      });
    });
    stale?.remove(); // what befalls a request is decided in its first step
  }

  /** One delivery for the whole of an answer. */
  #receiver(exchange: Exchange): DirectReceiver {
    let status = 0;
    let headers = {};
    const chunks: Uint8Array[] = [];
    const { mishap } = exchange;
    return {
      start: (code, given) => {
        status = code;
        headers = given;
      },
      data: (bytes) => void chunks.push(bytes),
      destroy: () => this.fail(exchange, 'UND_ERR_SOCKET'),
      end: () => {
        if (mishap?.type === 'answer-lost') return;
        if (exchange.scope.kind === 'user' && isWebhookDown(status, chunks)) {
          this.#options.scheduler.after(this.#options.serverScope, userRepeatMs, () => this.#arrive(exchange));
          return;
        }
        if (mishap?.type === 'then') mishap.then();
        if (mishap?.type === 'cut-after') this.fail(exchange, 'UND_ERR_SOCKET');
        else if (mishap?.type === 'status' && status < 300) this.#answerStatus(exchange, mishap);
        else this.#deliverWhole(exchange, { status, headers, body: wholeOf(chunks) });
      },
    };
  }

  #deliverWhole(exchange: Exchange, answer: { status: number; headers: object; body: Buffer }): void {
    const { status, headers, body } = answer;
    const { mishap } = exchange;
    const cutAt = mishap?.type === 'truncated' ? Math.floor(body.length * mishap.share) : undefined;
    const slow = mishap?.type === 'slow' ? mishap.answerMs : 0;
    this.#toClient(
      exchange,
      () => {
        this.#start(exchange, status, headers);
        if (exchange.isClosed) return;
        if (body.length > 0) this.#data(exchange, cutAt === undefined ? body : body.subarray(0, cutAt));
        if (cutAt === undefined) this.#finish(exchange);
        else this.fail(exchange, 'UND_ERR_SOCKET');
      },
      slow,
    );
  }

  /** Chunk by chunk, in order. */
  #watchReceiver(exchange: Exchange): DirectReceiver {
    const { scheduler, serverScope } = this.#options;
    const { mishap } = exchange;
    let bytesLeft = mishap?.type === 'truncated' ? Math.floor(mishap.share * 4000) : Infinity;
    let held: Task | undefined;
    if (mishap?.type === 'late') {
      exchange.mood = 'late-bookmarks';
      exchange.lateMs = mishap.ms;
    }
    const pass = (bytes: Uint8Array, slowMs = 0): void => {
      if (bytes.length === 0 || bytesLeft <= 0) return;
      const chunk = Buffer.from(bytes.length > bytesLeft ? bytes.subarray(0, bytesLeft) : bytes);
      bytesLeft -= chunk.length;
      this.#toClient(exchange, () => this.#data(exchange, chunk), slowMs);
      if (bytesLeft <= 0) this.fail(exchange, 'UND_ERR_SOCKET');
    };
    return {
      start: (status, headers) => {
        if (mishap?.type === 'answer-lost') this.#strand(exchange);
        else
          this.#toClient(exchange, () => {
            this.#start(exchange, status, headers);
            if (mishap?.type === 'silent') this.#strand(exchange);
          });
      },
      data: (bytes) => {
        if (exchange.mood === 'normal') {
          pass(bytes);
          return;
        }
        const { events, bookmarks, endsInitial } = splitBookmarks(bytes);
        const isLate = exchange.mood === 'late-bookmarks';
        if (events.length > 0) {
          // The version of an event is newer, so the held bookmark is obsolete.
          if (held !== undefined) cancel(held);
          pass(events, isLate && endsInitial ? exchange.lateMs : 0);
        }
        if (!isLate || bookmarks.length === 0) return;
        if (held !== undefined) cancel(held);
        held = scheduler.after(serverScope, exchange.lateMs, () => pass(bookmarks));
      },
      end: () => this.#toClient(exchange, () => this.#finish(exchange)),
      destroy: () => this.fail(exchange, 'UND_ERR_SOCKET'),
    };
  }

  #answerStatus(exchange: Exchange, mishap: Extract<Mishap, { type: 'status' }>): void {
    const { code, reason, retryAfterSeconds } = mishap;
    const body = Buffer.from(
      JSON.stringify({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        reason,
        code,
        message: `simulated fault: ${code} ${reason}`,
        ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
      }),
    );
    const headers = {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    };
    this.#deliverWhole(exchange, { status: code, headers, body });
  }

  #start(exchange: Exchange, status: number, headers: object): void {
    exchange.status = status;
    this.#options.observer.answered(exchange, status, '');
    exchange.handler.onResponseStart(controllerOf(exchange), status, headers as Record<string, string>);
  }

  #data(exchange: Exchange, chunk: Buffer): void {
    exchange.handler.onResponseData(controllerOf(exchange), chunk);
  }

  #finish(exchange: Exchange): void {
    if (exchange.isClosed) return;
    this.#close(exchange);
    exchange.handler.onResponseEnd(controllerOf(exchange));
  }

  #callError(exchange: Exchange, error: Error): void {
    exchange.handler.onResponseError(controllerOf(exchange), error);
  }

  /** Nothing reaches the client from here on; the server learns of it a moment later. */
  #close(exchange: Exchange): void {
    if (exchange.isClosed) return;
    exchange.closedAt = this.#options.scheduler.now;
    this.#open.get(exchange.scope)?.delete(exchange);
    this.#endServerSide(exchange, this.#latency(exchange));
  }

  /** Both sides keep a connection over which nothing comes. */
  #strand(exchange: Exchange): void {
    exchange.mood = 'hanging';
    this.#endServerSide(exchange, forgottenMs);
  }

  #endServerSide(exchange: Exchange, afterMs: number): void {
    const { scheduler, serverScope } = this.#options;
    if (exchange.isServed || exchange.isGone) return;
    scheduler.after(serverScope, afterMs, () =>
      activities.run({ scope: serverScope, cause: exchange }, () => {
        if (!exchange.isServed) exchange.endServerSide(clientGone);
      }),
    );
  }

  #toClient(exchange: Exchange, deliver: () => void, slowMs = 0): void {
    const { scheduler } = this.#options;
    if (exchange.isClosed || exchange.mood === 'hanging') return;
    const at = Math.max(exchange.deliveredAt, scheduler.now + this.#latency(exchange) + slowMs);
    exchange.deliveredAt = at;
    const { scope } = exchange;
    scheduler.after(scope, at - scheduler.now, () => {
      if (exchange.isClosed || exchange.mood === 'hanging') return;
      scope.enter(deliver);
    });
  }

  #latency({ scope }: Exchange): number {
    return scope.kind === 'user' ? leastMs : leastMs + this.#options.random() * spreadMs;
  }
}

class ScopeDispatcher implements RequestDispatcher {
  readonly #network: Network;
  readonly #scope: Scope;
  #isDestroyed = false;

  constructor(network: Network, scope: Scope) {
    this.#network = network;
    this.#scope = scope;
  }

  dispatch(options: DispatchedRequest, handler: DispatchCallbacks): boolean {
    if (this.#isDestroyed) throw connectionError('UND_ERR_DESTROYED');
    this.#network.dispatch(this.#scope, { options, handler, via: this });
    return true;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Its running requests fail, as with undici. */
  destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#network.destroy(this, this.#scope);
    return Promise.resolve();
  }
}

function controllerOf({ controller }: Exchange): DispatchControl {
  return controller ?? dispatchControl(() => undefined);
}

/** The bytes of a response, which nearly always comes in one chunk. */
function wholeOf(chunks: readonly Uint8Array[]): Buffer {
  const [only] = chunks;
  if (only === undefined || chunks.length > 1) return Buffer.concat(chunks);
  return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
}

const webhookFailed = 'failed calling webhook';

/** Whether a write was rejected before it was executed, because a webhook could not be called. */
function isWebhookDown(status: number, chunks: readonly Uint8Array[]): boolean {
  return status === 500 && Buffer.concat(chunks).includes(webhookFailed);
}
