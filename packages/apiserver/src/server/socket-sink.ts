import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Sink } from '../protocol/sink.js';

/** Bytes that may be under way before {@link Sink.drained} waits. */
const lowWater = 64 * 1024;

/** Writes to either kind of response. */
export function writeTo(response: ServerResponse | Http2ServerResponse, bytes: Uint8Array, done: () => void): void {
  if ('stream' in response) response.write(bytes, done);
  else response.write(bytes, done);
}

/** The sink of a response over a socket. `cut` breaks the connection. */
export function createSocketSink(response: ServerResponse | Http2ServerResponse, cut: () => void): Sink {
  const closed = new AbortController();
  let buffered = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    if (buffered > lowWater && !closed.signal.aborted) return;
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const close = (): void => {
    if (!closed.signal.aborted) closed.abort();
    wake();
  };
  response.once('close', close);
  response.once('finish', close);
  if (response.destroyed) close();
  return {
    closed: closed.signal,
    get buffered() {
      return buffered;
    },
    write(bytes) {
      if (closed.signal.aborted || response.writableEnded) return;
      buffered += bytes.length;
      writeTo(response, bytes, () => {
        buffered -= bytes.length;
        wake();
      });
    },
    drained: () => {
      if (buffered <= lowWater || closed.signal.aborted) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    end() {
      if (!closed.signal.aborted && !response.writableEnded) response.end();
    },
    destroy() {
      cut();
      close();
    },
  };
}
