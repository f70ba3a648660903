import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Operator, ReplicaWorld, WorldOptions } from '@kctl/simulation';

type Connection = WorldOptions['connection'];
type Clock = WorldOptions['clock'];
export type Dispatcher = ReturnType<NonNullable<Connection['newDispatcher']>>;
export type Request = Parameters<Dispatcher['dispatch']>[0];
export type Callbacks = Parameters<Dispatcher['dispatch']>[1];

/** What a client was called back with, in ms since the world began. */
export type Delivery = { readonly at: number } & (
  | { readonly type: 'begin' }
  | { readonly type: 'start'; readonly status: number; readonly headers: Record<string, string | string[] | undefined> }
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'end' }
  | { readonly type: 'error'; readonly error: Error }
);

/** One request, and all that came back. */
export interface RecordedExchange {
  readonly line: string;
  readonly sentAt: number;
  readonly deliveries: Delivery[];
}

/** The life of one process of the operator: everything that reached it from outside. */
export interface Life {
  readonly name: string;
  readonly startedAt: number;
  readonly wallAt: number;
  readonly monotonicAt: number;
  stoppedAt: number;
  endedAt: number;
  readonly exchanges: RecordedExchange[];
  /** How late each timer fired, by the order in which they were set. */
  readonly timers: number[];
  readonly draws: number[];
  readonly uuids: string[];
}

/** Whose code runs. */
export const lives: AsyncLocalStorage<Life> = new AsyncLocalStorage();

/** Of the server's code: the request that it answers. */
export const served: AsyncLocalStorage<{ readonly uuids: string[] }> = new AsyncLocalStorage();

const crypto = createRequire(import.meta.url)('node:crypto') as { randomUUID: () => string };

/** A request without what differs from run to run: names and versions that follow from times. */
export function lineOf({ method, path }: Request): string {
  return `${method} ${path.replace(/\/events\/[^?]*/, '/events/').replace(/\?.*/, (query) => (query.includes('watch=') ? '?watch' : ''))}`;
}

/** Gives what processes draw to `draw`, and all uuids to `name`, until the returned function is called. */
export function divertRandomness(
  draw: (life: Life, inner: () => number) => number,
  name: (life: Life | undefined, inner: () => string) => string,
): () => void {
  const { random } = Math;
  const { randomUUID } = crypto;
  Math.random = () => {
    const life = lives.getStore();
    return life === undefined ? random() : draw(life, random);
  };
  crypto.randomUUID = () => name(lives.getStore(), randomUUID);
  syncBuiltinESMExports();
  return () => {
    Math.random = random;
    crypto.randomUUID = randomUUID;
    syncBuiltinESMExports();
  };
}

/** Records what reaches each process of an operator, at the seam where it meets the world. */
export class Recorder {
  readonly lives: Life[] = [];
  /** What the server drew but for a request. */
  readonly serverUuids: string[] = [];
  readonly #make: (world: ReplicaWorld) => Operator | Promise<Operator>;
  #now: () => number = () => 0;

  constructor(make: (world: ReplicaWorld) => Operator | Promise<Operator>) {
    this.#make = make;
  }

  /** Begins, before there is a process. `clock` says when things happen. */
  begin(clock: Clock): void {
    this.#now = () => clock.monotonicNow();
    // The world undoes it with its own.
    divertRandomness(
      (life, inner) => note(life.draws, inner()),
      (life, inner) => note(served.getStore()?.uuids ?? life?.uuids ?? this.serverUuids, inner()),
    );
  }

  /** Of a step of the timeline: whether a process died. */
  noteStep({ who, what, at }: { readonly who: string; readonly what: string; readonly at: number }): void {
    if (!what.startsWith('crashes ')) return;
    const life = this.lives.findLast(({ name }) => name === who);
    if (life !== undefined) life.endedAt = Math.min(life.endedAt, at);
  }

  /** The operator, recorded. Rules see nothing of it but its requests: its cache and client are not handed on. */
  readonly operator = async (world: ReplicaWorld): Promise<Operator> => {
    const { clock } = world;
    const life: Life = {
      name: world.name,
      startedAt: this.#now(),
      wallAt: clock.now(),
      monotonicAt: clock.monotonicNow(),
      stoppedAt: Infinity,
      endedAt: Infinity,
      exchanges: [],
      timers: [],
      draws: [],
      uuids: [],
    };
    this.lives.push(life);
    const options: WorldOptions = {
      ...world.options,
      clock: recordedClock(clock, life),
      connection: this.#connection(world.connection, life),
    };
    const operator = await lives.run(life, () => this.#make({ ...world, ...options, options }));
    return {
      run: (signal) => {
        signal.addEventListener('abort', () => void (life.stoppedAt = this.#now()), { once: true });
        return lives.run(life, async () => {
          await operator.run(signal);
          life.endedAt = Math.min(life.endedAt, this.#now());
        });
      },
    };
  };

  #connection(connection: Connection, life: Life): Connection {
    const { newDispatcher } = connection;
    if (newDispatcher === undefined) throw new Error('the connection of a world has a dispatcher');
    return { ...connection, newDispatcher: () => this.#dispatcher(newDispatcher(), life) };
  }

  #dispatcher(inner: Dispatcher, life: Life): Dispatcher {
    return {
      dispatch: (request, callbacks) => {
        const deliveries: Delivery[] = [];
        life.exchanges.push({ line: lineOf(request), sentAt: this.#now(), deliveries });
        const add = (delivery: Delivery, pass: () => void): void => {
          deliveries.push(delivery);
          lives.run(life, pass);
        };
        const at = (): number => this.#now();
        return inner.dispatch(request, {
          onRequestStart: (control) => add({ at: at(), type: 'begin' }, () => callbacks.onRequestStart(control)),
          onResponseStart: (control, status, headers) =>
            add({ at: at(), type: 'start', status, headers }, () =>
              callbacks.onResponseStart(control, status, headers),
            ),
          onResponseData: (control, chunk) =>
            // A copy: what is read may be given away with its memory.
            add({ at: at(), type: 'data', bytes: Buffer.from(chunk) }, () => callbacks.onResponseData(control, chunk)),
          onResponseEnd: (control) => add({ at: at(), type: 'end' }, () => callbacks.onResponseEnd(control)),
          onResponseError: (control, error) =>
            add({ at: at(), type: 'error', error }, () => callbacks.onResponseError(control, error)),
        });
      },
      close: () => inner.close(),
      destroy: () => inner.destroy(),
    };
  }
}

function note<T>(list: T[], value: T): T {
  list.push(value);
  return value;
}

function recordedClock(clock: Clock, { timers }: Life): Clock {
  return {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow(),
    setTimer: (callback, delayMs, options) => {
      const place = timers.push(0) - 1;
      const setAt = clock.monotonicNow();
      return clock.setTimer(
        () => {
          timers[place] = clock.monotonicNow() - setAt - Math.max(0, delayMs);
          callback();
        },
        delayMs,
        options,
      );
    },
  };
}
