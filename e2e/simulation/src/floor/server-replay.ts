import { createApiServer } from '@kctl/apiserver';
import type { DirectReceiver } from '@kctl/apiserver';
import type { SimulateOptions, WorldOptions } from '@kctl/simulation';
import { pop, push, type Due } from './due-heap.js';
import { divertRandomness, served } from './recording.js';
import { isWatch, type Asked, type RecordedRequest, type ServerRecording } from './server-recording.js';

const nextTurn = globalThis.setImmediate;

/** How a replay went. */
export interface ServerReplayResult {
  readonly requests: number;
  /** Requests with another status than in the recording: 0, or what was measured is something else. */
  readonly divergences: number;
  /** Bytes that were answered, watch events included. */
  readonly bytes: number;
}

/**
 * Lets a server answer what that of a recording was asked: no operator, no network, no rules. What it takes is what no
 * faster operator could save.
 */
export class ServerReplay {
  readonly #heap: Due[] = [];
  #now = 0;
  #order = 0;
  #divergences = 0;
  #bytes = 0;
  readonly #wallAt: number;
  readonly #server: ReturnType<typeof createApiServer>;

  constructor({ wallAt }: ServerRecording) {
    this.#wallAt = wallAt;
    this.#server = createApiServer({
      listen: false,
      clock: this.#clock(),
      journalEntries: 0,
      historyMs: 300_000,
      controllerDelayMs: 1000,
    });
  }

  /** Starts the server, with the namespaces and definitions that a world begins with. */
  async prepare(resources: SimulateOptions['resources'] = []): Promise<void> {
    await this.#server.start();
    for (const { kind, ...resource } of resources) {
      const target =
        kind === 'Namespace' ? '/api/v1/namespaces' : '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const asked = {
        method: 'POST',
        target,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ kind, ...resource })),
      };
      this.#at(0, () => this.#ask({ at: 0, asked, status: 201, uuids: [], wasGone: false, goneAt: Infinity }));
    }
    await this.#drive(0);
  }

  async run(requests: readonly RecordedRequest[], uuids: readonly string[]): Promise<ServerReplayResult> {
    let drawn = 0;
    const restore = divertRandomness(
      (_life, inner) => inner(),
      (_life, inner) => {
        const request = served.getStore();
        return (request === undefined ? uuids[drawn++] : request.uuids.shift()) ?? inner();
      },
    );
    try {
      for (const request of requests) this.#at(request.at, () => this.#ask(request));
      await this.#drive(requests.at(-1)?.at ?? 0);
    } finally {
      restore();
    }
    return { requests: requests.length, divergences: this.#divergences, bytes: this.#bytes };
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  #ask({ asked, status, uuids, wasGone, goneAt }: RecordedRequest): void {
    const gone = new AbortController();
    if (isWatch(asked.target) && goneAt < Infinity) this.#at(goneAt, () => gone.abort());
    const request: Asked = { ...asked, signal: gone.signal, isGone: () => wasGone || gone.signal.aborted };
    const receiver: DirectReceiver = {
      start: (code) => {
        if (code !== status) this.#divergences++;
      },
      data: ({ length }) => void (this.#bytes += length),
      end: () => undefined,
      destroy: () => undefined,
    };
    void served.run({ uuids: [...uuids] }, () => this.#server.answer(request, receiver));
  }

  #at(at: number, run: () => void): Due {
    const due: Due = { at, order: this.#order++, run };
    push(this.#heap, due);
    return due;
  }

  #clock(): WorldOptions['clock'] {
    return {
      now: () => this.#wallAt + Math.floor(this.#now),
      monotonicNow: () => this.#now,
      setTimer: (callback, delayMs) => {
        if (!Number.isFinite(delayMs)) return { cancel: () => undefined };
        const due = this.#at(this.#now + Math.max(0, delayMs), callback);
        return { cancel: () => void (due.run = undefined) };
      },
    };
  }

  /** One step for each turn of the event loop: what a step makes ready is done before the next. */
  #drive(until: number): Promise<void> {
    return new Promise((resolve) => {
      const step = (): void => {
        const due = (this.#heap[0]?.at ?? Infinity) > until ? undefined : pop(this.#heap);
        if (due === undefined) {
          resolve();
          return;
        }
        nextTurn(step);
        if (due.run === undefined) return;
        this.#now = Math.max(this.#now, due.at);
        due.run();
      };
      nextTurn(step);
    });
  }
}
