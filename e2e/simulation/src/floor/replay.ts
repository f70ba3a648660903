import type { Operator, ReplicaWorld, WorldOptions } from '@kctl/simulation';
import {
  divertRandomness,
  lineOf,
  lives,
  type Callbacks,
  type Delivery,
  type Dispatcher,
  type Life,
  type RecordedExchange,
  type Request,
} from './recording.js';
import { pop, push, type Due } from './due-heap.js';

const nextTurn = globalThis.setImmediate;

interface Task extends Due {
  readonly life: Life;
}

/** How a replay went. */
export interface ReplayResult {
  readonly requests: number;
  /** Requests that were not those of the recording: 0, or what was measured is something else. */
  readonly divergences: number;
  readonly tasks: number;
}

/**
 * Runs the operator's own code again, with the answers of a recording: no server, no network, no faults, no rules. What it
 * takes is what no other server could save.
 */
export class Replay {
  readonly #heap: Task[] = [];
  #ready: Task[] = [];
  #now = 0;
  #order = 0;
  #requests = 0;
  #divergences = 0;
  #tasks = 0;
  readonly #answers = new Map<Life, Map<string, RecordedExchange[]>>();
  readonly #make: (world: ReplicaWorld) => Operator | Promise<Operator>;

  constructor(make: (world: ReplicaWorld) => Operator | Promise<Operator>) {
    this.#make = make;
  }

  async run(recorded: readonly Life[]): Promise<ReplayResult> {
    const positions = new Map(recorded.map((life) => [life, { draw: 0, uuid: 0 }]));
    const placeOf = (life: Life): { draw: number; uuid: number } => positions.get(life) ?? { draw: 0, uuid: 0 };
    const restore = divertRandomness(
      (life, inner) => life.draws[placeOf(life).draw++] ?? inner(),
      (life, inner) => (life === undefined ? undefined : life.uuids[placeOf(life).uuid++]) ?? inner(),
    );
    const { setImmediate: realImmediate } = globalThis;
    const virtual = (callback: (...args: unknown[]) => void, ...args: unknown[]): unknown => {
      const life = lives.getStore();
      if (life === undefined) return realImmediate(callback, ...args);
      this.#ready.push({ at: this.#now, order: 0, life, run: () => lives.run(life, () => callback(...args)) });
      return undefined;
    };
    Reflect.set(globalThis, 'setImmediate', virtual);
    try {
      for (const life of recorded) this.#at(life, life.startedAt, () => this.#start(life));
      await this.#drive();
    } finally {
      Reflect.set(globalThis, 'setImmediate', realImmediate);
      restore();
    }
    return { requests: this.#requests, divergences: this.#divergences, tasks: this.#tasks };
  }

  #at(life: Life, at: number, run: () => void): Task {
    const task: Task = { at, order: this.#order++, life, run };
    push(this.#heap, task);
    return task;
  }

  #start(life: Life): void {
    const stop = new AbortController();
    const options: WorldOptions = {
      connection: {
        server: 'https://simulated:6443',
        namespace: 'default',
        disableCompression: true,
        newDispatcher: () => this.#dispatcher(life),
      },
      clock: this.#clock(life),
      logger: silentLogger,
      tracer: { withSpan: async (_name, _attributes, work) => await work(silentSpan) },
    };
    const world: ReplicaWorld = {
      ...options,
      options,
      name: life.name,
      incarnation: 1,
      random: Math.random,
      violate: () => undefined,
    };
    lives.run(life, () => {
      void (async () => {
        const operator = await this.#make(world);
        await operator.run(stop.signal);
      })().catch(() => undefined);
    });
    if (life.stoppedAt < Infinity) this.#at(life, life.stoppedAt, () => lives.run(life, () => stop.abort()));
  }

  #clock(life: Life): WorldOptions['clock'] {
    let timers = 0;
    return {
      now: () => life.wallAt + Math.floor(this.#now) - Math.floor(life.startedAt),
      monotonicNow: () => life.monotonicAt + this.#now - life.startedAt,
      setTimer: (callback, delayMs) => {
        const late = life.timers[timers++] ?? 0;
        if (!Number.isFinite(delayMs)) return { cancel: () => undefined };
        const task = this.#at(life, this.#now + Math.max(0, delayMs) + late, () => lives.run(life, callback));
        return { cancel: () => void (task.run = undefined) };
      },
    };
  }

  #dispatcher(life: Life): Dispatcher {
    return {
      dispatch: (request, callbacks) => {
        this.#dispatch(life, request, callbacks);
        return true;
      },
      close: () => Promise.resolve(),
      destroy: () => Promise.resolve(), // what it fails was recorded
    };
  }

  #dispatch(life: Life, request: Request, callbacks: Callbacks): void {
    const recorded = this.#answersOf(life).get(lineOf(request))?.shift();
    this.#requests++;
    if (recorded === undefined) {
      this.#divergences++;
      return;
    }
    const state = { isAborted: false };
    const control = { pause: () => undefined, resume: () => undefined, abort: () => void (state.isAborted = true) };
    const [first, ...rest] = together(recorded.deliveries);
    if (first?.[0]?.type === 'begin') callbacks.onRequestStart(control);
    else if (first !== undefined) rest.unshift(first);
    for (const group of rest)
      this.#at(life, Math.max(this.#now, group[0]?.at ?? 0), () =>
        lives.run(life, () => {
          for (const delivery of group) if (!state.isAborted) deliver(delivery, control, callbacks);
        }),
      );
  }

  /** By request line, in order: what two parts of a process ask at the same moment may change places. */
  #answersOf(life: Life): Map<string, RecordedExchange[]> {
    const known = this.#answers.get(life);
    if (known !== undefined) return known;
    const answers = Map.groupBy(life.exchanges, ({ line }) => line);
    this.#answers.set(life, answers);
    return answers;
  }

  #drive(): Promise<void> {
    return new Promise((resolve) => {
      const step = (): void => {
        const task = this.#take();
        if (task === undefined) {
          resolve();
          return;
        }
        this.#tasks++;
        nextTurn(step);
        task.run?.();
      };
      nextTurn(step);
    });
  }

  #take(): Task | undefined {
    for (;;) {
      const task = this.#ready.shift() ?? pop(this.#heap);
      if (task === undefined) return undefined;
      if (task.run === undefined || task.at > task.life.endedAt) continue;
      this.#now = Math.max(this.#now, task.at);
      return task;
    }
  }
}

/** What the world delivered in one task. */
function together(deliveries: readonly Delivery[]): Delivery[][] {
  const groups: Delivery[][] = [];
  for (const delivery of deliveries) {
    const last = groups.at(-1);
    const isFirst = delivery.type === 'begin' || last?.[0]?.type === 'begin';
    if (last !== undefined && !isFirst && last[0]?.at === delivery.at) last.push(delivery);
    else groups.push([delivery]);
  }
  return groups;
}

function deliver(delivery: Delivery, control: Parameters<Callbacks['onRequestStart']>[0], callbacks: Callbacks): void {
  switch (delivery.type) {
    case 'begin':
      callbacks.onRequestStart(control);
      return;
    case 'start':
      callbacks.onResponseStart(control, delivery.status, delivery.headers);
      return;
    case 'data':
      callbacks.onResponseData(control, Buffer.from(delivery.bytes));
      return;
    case 'end':
      callbacks.onResponseEnd(control);
      return;
    case 'error':
      callbacks.onResponseError(control, delivery.error);
  }
}

const silentSpan = { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined };
const silentLogger: WorldOptions['logger'] = {
  isEnabled: () => false,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
