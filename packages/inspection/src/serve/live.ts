import type { ServerResponse } from 'node:http';
import type { Clock } from '@kctl/wait';
import { sleep } from '@kctl/wait';
import { beginStream, sendText } from './answer.js';

/** Streams at one time. */
const maxStreams = 16;
/** How often a stream looks whether something has changed, in ms. */
const tickMs = 1000;
/**
 * Without a change the overview is sent this often, in ms, because a proxy may cut a silent connection, and times
 * advance.
 */
const quietMs = 5000;
/** A stream ends after this long, in ms, and the browser opens the next one, so that a token is checked again. */
const lifeMs = 15 * 60_000;

/** Options of {@link LiveStreams}. */
export interface LiveOptions {
  readonly clock: Clock;
  /** Differs from the previous one if something has changed. */
  readonly version: () => number;
  readonly overview: () => unknown;
}

/**
 * Server-sent events, with an event `overview` when something has changed, at most once a second. A client that does
 * not read is not written to, so that nothing piles up for it.
 */
export class LiveStreams {
  readonly #options: LiveOptions;
  #open = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /** Resolves when the client has gone, or the stream has ended. */
  async serve(response: ServerResponse, signal: AbortSignal): Promise<true> {
    if (this.#open >= maxStreams)
      return sendText(response, 503, `there are ${maxStreams} streams already: close a page`, { 'retry-after': '10' });
    this.#open++;
    try {
      beginStream(response, 'text/event-stream; charset=utf-8');
      response.write('retry: 2000\n\n');
      await this.#write(response, signal);
      response.end();
    } finally {
      this.#open--;
    }
    return true;
  }

  async #write(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { clock, version, overview } = this.#options;
    const begun = clock.monotonicNow();
    let seen: number | undefined;
    let sentAt = -Infinity;
    while (!signal.aborted && !response.destroyed && clock.monotonicNow() - begun < lifeMs) {
      const now = clock.monotonicNow();
      const at = version();
      if ((at !== seen || now - sentAt >= quietMs) && !response.writableNeedDrain) {
        response.write(`event: overview\ndata: ${JSON.stringify(overview())}\n\n`);
        seen = at;
        sentAt = now;
      }
      try {
        await sleep(tickMs, { clock, signal, keepAlive: false });
      } catch {
        return; // the client has gone, or the server stops
      }
    }
  }
}
