import { Duplex } from 'node:stream';
import { abortReason, startTimer } from '@kctl/wait/internal';
import type { Clock, ClockTimer } from '@kctl/wait';
import type { DispatchControl, RequestDispatcher } from '@kctl/client/internal/connection';
import { ByteStream } from '../bytes/byte-stream.js';
import type { ByteSource } from '../bytes/byte-stream.js';
import { explainFailure } from '../failure/explain-failure.js';

/** One request, as it goes onto the wire. */
export interface ExchangeRequest {
  readonly origin: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** The protocol to switch to. */
  readonly upgrade?: string | undefined;
}

/** How long to wait, in ms; 0 is unlimited. */
export interface ExchangeTimeouts {
  /** Until the response's headers are there. */
  readonly headersMs: number;
  /** Between two chunks of the body, while a reader waits for one. */
  readonly idleMs: number;
  /** Until the whole body is there. */
  readonly totalMs: number;
  /** Until the whole body of an answer that is not a success is there, whatever else was allowed. */
  readonly errorMs: number;
}

/** A response whose body is still under way. */
export interface Exchange {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: ByteStream;
  /** The connection, once it speaks the requested protocol. It belongs to the caller; there is no body. */
  readonly socket?: Duplex;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Context in which an exchange runs. */
export interface ExchangeContext {
  readonly dispatcher: RequestDispatcher;
  readonly timeouts: ExchangeTimeouts;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Whether each read of the connection has separate memory, as in HTTP/1.1, but not in HTTP/2. @default false */
  readonly hasExclusiveReads?: boolean | undefined;
  /** Called with the number of bytes of the body that arrived, however it ends. */
  readonly onEnd?: ((receivedBytes: number) => void) | undefined;
}

/**
 * Sends one request over undici's dispatch interface, without intermediate stream objects and with direct flow control
 * and abort. Resolves with the headers. An abort rejects at once, also while the request still waits for a connection.
 *
 * @throws TransportError, or the signal's reason
 */
export function exchange(request: ExchangeRequest, context: ExchangeContext): Promise<Exchange> {
  return new Promise((resolve, reject) => new RunningExchange(request, context, { resolve, reject }).start());
}

/** A field of a response's headers; of several, the first. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

interface Settler {
  resolve(exchange: Exchange): void;
  reject(error: Error): void;
}

type Phase = 'queued' | 'sent' | 'body' | 'done';

class RunningExchange implements ByteSource {
  readonly #request: ExchangeRequest;
  readonly #context: ExchangeContext;
  readonly #settler: Settler;
  #phase: Phase = 'queued';
  #controller: DispatchControl | undefined;
  #body: ByteStream | undefined;
  #abortedBy: Error | undefined;
  #headersTimer: ClockTimer | undefined;
  #totalTimer: ClockTimer | undefined;
  #idleTimer: ClockTimer | undefined;
  #lastActivity = 0;
  readonly #onSignal = (): void => {
    const { signal } = this.#context;
    if (signal !== undefined) this.#stop(abortReason(signal));
  };

  constructor(request: ExchangeRequest, context: ExchangeContext, settler: Settler) {
    this.#request = request;
    this.#context = context;
    this.#settler = settler;
  }

  start(): void {
    const { signal, timeouts, clock, dispatcher } = this.#context;
    if (signal?.aborted === true) {
      this.#phase = 'done';
      this.#settler.reject(abortReason(signal));
      return;
    }
    signal?.addEventListener('abort', this.#onSignal, { once: true });
    if (timeouts.headersMs > 0) this.#headersTimer = this.#deadline(timeouts.headersMs, 'no answer');
    if (timeouts.totalMs > 0) this.#totalTimer = this.#deadline(timeouts.totalMs, 'no complete answer');
    this.#lastActivity = clock.monotonicNow();
    const { origin, method, path, headers, body, upgrade } = this.#request;
    try {
      dispatcher.dispatch(
        {
          origin,
          method,
          path,
          headers,
          body: body ?? null,
          headersTimeout: 0,
          bodyTimeout: 0,
          ...(upgrade === undefined ? {} : { upgrade }),
        },
        {
          onRequestStart: (controller) => this.#onStart(controller),
          onResponseStart: (_controller, status, answer) => this.#onHeaders(status, answer),
          onResponseData: (_controller, chunk) => this.#onData(chunk),
          onResponseEnd: () => this.#onEnd(),
          onRequestUpgrade: (_controller, status, answer, socket) => this.#onUpgrade(status, answer, socket),
          onResponseError: (_controller, error) => this.#onError(error),
        },
      );
    } catch (error) {
      this.#onError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#lastActivity = this.#context.clock.monotonicNow();
    this.#controller?.resume();
  }

  abort(reason: Error): void {
    this.#abortedBy = reason;
    this.#controller?.abort(reason);
  }

  #onStart(controller: DispatchControl): void {
    this.#controller = controller;
    // Checked in addition to its event, because a signal may know better than its last event, as a fence does after a
    // stall.
    if (this.#abortedBy === undefined && this.#context.signal?.aborted === true) this.#onSignal();
    if (this.#abortedBy !== undefined) controller.abort(this.#abortedBy);
    else if (this.#phase === 'queued') this.#phase = 'sent';
  }

  #onHeaders(status: number, headers: ResponseHeaders): void {
    if (status < 200 || this.#phase === 'done') return;
    this.#phase = 'body';
    this.#headersTimer?.cancel();
    const body = new ByteStream(this, () => this.#finish(), this.#context.hasExclusiveReads);
    this.#body = body;
    const { errorMs, idleMs } = this.#context.timeouts;
    if (status >= 300 && errorMs > 0) this.#totalTimer ??= this.#deadline(errorMs, 'no complete answer');
    this.#armIdleTimer(idleMs);
    this.#settler.resolve({ status, headers, body });
  }

  #onData(chunk: Buffer): void {
    this.#lastActivity = this.#context.clock.monotonicNow();
    this.#body?.push(chunk);
  }

  #onEnd(): void {
    this.#body?.end();
  }

  #onUpgrade(status: number, headers: ResponseHeaders, socket: unknown): void {
    if (!(socket instanceof Duplex)) {
      this.#onError(new Error('the connection that was upgraded is not a stream'));
      return;
    }
    if (this.#phase === 'done') {
      socket.destroy();
      return;
    }
    this.#finish();
    const body = new ByteStream(this, () => undefined);
    body.end();
    this.#settler.resolve({ status, headers, body, socket });
  }

  #onError(error: Error): void {
    if (this.#phase === 'done') return;
    const { origin, method, path } = this.#request;
    const maybeSent = this.#phase !== 'queued';
    this.#reject(explainFailure(error, { server: origin, method, path, maybeSent }));
  }

  /** Ends it from the client's side, on an abort or a deadline. */
  #stop(reason: Error): void {
    if (this.#phase === 'done') return;
    this.#reject(reason);
    this.abort(reason);
  }

  #reject(error: Error): void {
    const body = this.#body;
    this.#finish();
    if (body === undefined) this.#settler.reject(error);
    else body.fail(error);
  }

  #finish(): void {
    if (this.#phase === 'body') this.#context.onEnd?.(this.#body?.receivedBytes ?? 0);
    this.#phase = 'done';
    this.#headersTimer?.cancel();
    this.#totalTimer?.cancel();
    this.#idleTimer?.cancel();
    this.#context.signal?.removeEventListener('abort', this.#onSignal);
  }

  #deadline(ms: number, what: string): ClockTimer {
    return startTimer(this.#context.clock, () => this.#timeOut(ms, what), ms, { keepAlive: false });
  }

  #armIdleTimer(ms: number): void {
    const { timeouts, clock } = this.#context;
    if (timeouts.idleMs <= 0) return;
    this.#idleTimer = startTimer(
      clock,
      () => {
        const idleMs = clock.monotonicNow() - this.#lastActivity;
        if (this.#body?.isStarving !== true) this.#armIdleTimer(timeouts.idleMs);
        else if (idleMs >= timeouts.idleMs) this.#timeOut(timeouts.idleMs, 'nothing more of the answer');
        else this.#armIdleTimer(timeouts.idleMs - idleMs);
      },
      ms,
      { keepAlive: false },
    );
  }

  #timeOut(ms: number, what: string): void {
    const { origin, method, path } = this.#request;
    const maybeSent = this.#phase !== 'queued';
    const cause = new Error(`${what} within ${ms} ms`);
    this.#stop(explainFailure(cause, { server: origin, method, path, maybeSent, failure: 'timeout' }));
  }
}
