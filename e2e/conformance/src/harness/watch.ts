/** One watch: its events in order, each waited for with a deadline. */
import type { WatchEvent } from './doc.js';
import type { Connection, Query, SendOptions } from './http.js';

const EVENT_TIMEOUT_MS = 15_000;

export interface Watch {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Returns the next event. Skips progress bookmarks, which a server sends at times of its own; the bookmark that ends
   * the initial events is returned.
   *
   * @throws when no event comes within `timeoutMs` or the stream ends first
   */
  next(timeoutMs?: number): Promise<WatchEvent>;
  take(count: number): Promise<WatchEvent[]>;
  /** Events up to and including the first that `last` accepts. */
  until(last: (event: WatchEvent) => boolean, timeoutMs?: number): Promise<WatchEvent[]>;
  /** Waits for the end of the stream; the events not taken so far, with all bookmarks. */
  rest(timeoutMs?: number): Promise<WatchEvent[]>;
  close(): void;
}

/** Turns the bytes of a stream into events. */
export interface EventDecoder {
  push(chunk: Buffer): WatchEvent[];
  /** What is left of an event that has not come whole: '' between two. */
  rest(): string;
}

/** Events in JSON: one in each line. */
function jsonEvents(): EventDecoder {
  let pending = '';
  const decoder = new TextDecoder();
  return {
    push(chunk) {
      const lines = (pending + decoder.decode(chunk, { stream: true })).split('\n');
      pending = lines.pop() ?? '';
      return lines.map((line) => JSON.parse(line) as WatchEvent);
    },
    rest: () => pending,
  };
}

const END_OF_INITIAL_EVENTS = 'k8s.io/initial-events-end';

function isProgress({ type, object }: WatchEvent): boolean {
  return type === 'BOOKMARK' && object.metadata.annotations?.[END_OF_INITIAL_EVENTS] === undefined;
}

export class WatchRefused extends Error {
  readonly status: number;
  readonly text: string;
  constructor(request: string, status: number, text: string) {
    super(`${request}: ${status} ${text.slice(0, 600)}`);
    this.name = 'WatchRefused';
    this.status = status;
    this.text = text;
  }
}

export async function openWatch(
  connection: Connection,
  path: string,
  options: SendOptions = {},
  decoder: EventDecoder = jsonEvents(),
): Promise<Watch> {
  const abort = new AbortController();
  const query: Query = { watch: true, ...options.query };
  const answer = await connection.open(path, { ...options, query, signal: abort.signal });
  if (answer.status !== 200) throw new WatchRefused(answer.request, answer.status, await answer.text());

  const events: WatchEvent[] = [];
  let ended = false;
  let failure: unknown;
  let wake: () => void = () => {};
  const read = async () => {
    for await (const chunk of answer.body) {
      events.push(...decoder.push(chunk));
      wake();
    }
    const rest = decoder.rest();
    if (rest !== '') throw new Error(`${answer.request}: the stream ended inside of a frame: ${rest}`);
  };
  read()
    .catch((error: unknown) => {
      if (!abort.signal.aborted) failure = error;
    })
    .finally(() => {
      ended = true;
      wake();
    });

  /** Waits until `isDone` or the end of the stream. */
  const waitFor = async (isDone: () => boolean, timeoutMs: number, what: string) => {
    const deadline = Date.now() + timeoutMs;
    while (!isDone() && !ended) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`${answer.request}: no ${what} within ${timeoutMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what the stream failed with
    if (failure !== undefined) throw failure;
  };

  const next = async (timeoutMs = EVENT_TIMEOUT_MS): Promise<WatchEvent> => {
    await waitFor(
      () => {
        while (events[0] !== undefined && isProgress(events[0])) events.shift();
        return events.length > 0;
      },
      timeoutMs,
      'event',
    );
    const event = events.shift();
    if (event === undefined) throw new Error(`${answer.request}: the stream ended where an event was expected`);
    return event;
  };
  return {
    status: answer.status,
    headers: answer.headers,
    next,
    async take(count) {
      const taken: WatchEvent[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    async until(last, timeoutMs) {
      const taken: WatchEvent[] = [];
      for (;;) {
        const event = await next(timeoutMs);
        taken.push(event);
        if (last(event)) return taken;
      }
    },
    async rest(timeoutMs = EVENT_TIMEOUT_MS) {
      await waitFor(() => ended, timeoutMs, 'end of the stream');
      return events.splice(0);
    },
    close: () => abort.abort(),
  };
}
