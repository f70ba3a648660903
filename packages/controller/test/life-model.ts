// A controller, a world around it, and what must hold of them whatever happens, at any await.
import { getEventListeners } from 'node:events';
import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { Metrics } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import type { Controller, ControllerOptions, ReconcileRequest, Source, WatchHandle } from '../src/index.js';
import {
  channelSource,
  createController,
  createEventChannel,
  createRetryPolicy,
  enqueueRequestForObject,
  enqueueRequestsFromMapFunc,
  funcSource,
  isSourceError,
  kindSource,
  pollingSource,
} from '../src/index.js';
import { FakeInformers, Node, Pod, pod, StoringInformer } from './fakes.js';
import { RecordingMetrics } from './recording-metrics.js';

/** One thing that happens to a controller. */
export type Action =
  | { readonly type: 'event'; readonly key: string; readonly verb: 'add' | 'delete' }
  | { readonly type: 'watch' | 'remove' | 'removeStale'; readonly source: number }
  | { readonly type: 'run'; readonly hasLife: boolean }
  | { readonly type: 'stop' | 'warm' | 'cool' | 'endLife' | 'sendAll' | 'poison' | 'release' | 'rest' }
  | { readonly type: 'send'; readonly key: string }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'turns'; readonly count: number }
  | { readonly type: 'workers'; readonly count: number };

/** What a reconcile does. All but `done` and `terminal` are owed another run. */
export type Deed =
  | 'done'
  | 'fail'
  | 'throw'
  | 'hostile'
  | 'garbage'
  | 'backoff'
  | 'requeue'
  | 'requeueNow'
  | 'requeuePast'
  | 'untilStop'
  | 'hang'
  | 'slow';

/** How the controller of a model is made. */
export interface ModelOptions {
  readonly usePriorityQueue: boolean;
  readonly eventsDuringBackoff: 'immediate' | 'oncePerWindow';
  readonly isDebounced: boolean;
  readonly isLimited: boolean;
  /** Event handlers take time. */
  readonly areHandlersSlow: boolean;
  /** Hook, policy, limiter, metrics sink and tracer throw or return garbage. */
  readonly isHostile: boolean;
}

const channelIndex = 1;
const toSelf = enqueueRequestsFromMapFunc<string, ReconcileRequest>((name) => [{ name }]);

export class LifeModel {
  readonly clock: FakeClock = new FakeClock();
  readonly violations: string[] = [];
  readonly controller: Controller;
  readonly #informers = new FakeInformers(() => new ListeningInformer((name) => this.#owed.add(`default/${name}`)));
  readonly #pods: StoringInformer;
  readonly #deeds: Deed[];
  readonly #areHandlersSlow: boolean;
  /** Keys that a reconcile has to begin after. */
  readonly #owed = new Set<string>();
  readonly #running = new Set<string>();
  readonly #hanging = new Set<() => void>();
  readonly #signals: AbortSignal[] = [];
  readonly #runs: Promise<void>[] = [];
  readonly #sources: readonly TrackedSource[];
  readonly #handles: (WatchHandle | undefined)[];
  readonly #stale: { readonly handle: WatchHandle; readonly source: number }[] = [];
  readonly #config = createEventChannel<string>({ capacity: 4, identify: String });
  readonly #channel = createEventChannel<string>({ identify: String });
  #poisoned = 0;
  #loans = 0;
  #run: AbortController | undefined;
  /** Runs that were called beside an active one: refused, unless that is told to stop before it begins. */
  readonly #refused: AbortController[] = [];
  #warm: AbortController | undefined;
  #life: AbortController | undefined;
  /** The signal of the watch of pods, which is never removed: that of the session. */
  #session: AbortSignal | undefined;
  /** The session of the last reconcile. */
  #worked: AbortSignal | undefined;
  #isCalm = false;
  #version = 1;

  constructor(deeds: readonly Deed[], options: ModelOptions) {
    this.#deeds = [...deeds];
    this.#areHandlersSlow = options.areHandlersSlow;
    this.#pods = this.#informers.of(Pod) as StoringInformer;
    this.#pods.sync();
    this.#informers.of(Node).sync();
    this.controller = createController({
      name: 'life',
      enableWarmup: true,
      maxConcurrentReconciles: 2,
      clock: this.clock,
      random: () => 0.5,
      retryPolicy: createRetryPolicy({ delayMs: (attempt) => Math.min(attempt * 10, 100) }),
      reconciler: (request, { signal }) => this.#reconcile(request, signal),
      usePriorityQueue: options.usePriorityQueue,
      eventsDuringBackoff: options.eventsDuringBackoff,
      ...(options.isDebounced ? { debounce: { quietMs: 20, maxMs: 60 } } : {}),
      ...(options.isLimited ? { runLimit: { runs: 3, perMs: 100 } } : {}),
      ...(options.isHostile ? hostileOptions() : { metrics: new RecordingMetrics() }),
    });
    const pods = this.#kind(Pod);
    this.controller.watch({
      name: pods.name,
      start: (context) => {
        this.#session = context.signal;
        // With the session goes its queue. The next one lists what exists.
        context.signal.addEventListener('abort', () => this.#owed.clear(), { once: true });
        return pods.start(context);
      },
    });
    this.controller.reconcileAllOn(channelSource({ name: 'config', events: this.#config, handler: toSelf }));
    this.#sources = this.#makeSources();
    this.#handles = this.#sources.map(() => undefined);
  }

  get #isLive(): boolean {
    return this.#pods.handlers.size > 0 && this.#session?.aborted === false;
  }

  async act(action: Action): Promise<void> {
    switch (action.type) {
      case 'event':
        this.#event(action.key, action.verb);
        return;
      case 'watch':
        this.#watch(action.source);
        return;
      case 'remove':
        this.#remove(action.source);
        return;
      case 'removeStale':
        void this.#stale.find(({ source }) => source === action.source)?.handle.remove();
        return;
      case 'run':
        this.#begin(action.hasLife);
        return;
      case 'stop':
        this.#stop();
        return;
      case 'warm':
        this.#warm ??= this.#newSignal();
        this.controller.warmup?.(this.#warm.signal).catch((error: unknown) => this.#allow(error));
        return;
      case 'cool':
        this.#warm?.abort();
        this.#warm = undefined;
        return;
      case 'endLife':
        this.#life?.abort();
        this.#life = undefined;
        return;
      case 'sendAll':
        if (this.controller.phase === 'active') for (const name of this.#pods.objects.keys()) this.#owe(name);
        this.#config.send('changed');
        return;
      case 'send':
        this.#channel.send(action.key);
        return;
      case 'poison':
        this.#channel.send(`poison ${this.#poisoned++}`);
        return;
      case 'release':
        this.#release();
        return;
      case 'advance':
        await this.clock.advance(action.ms);
        return;
      case 'turns':
        for (let turn = 0; turn < action.count; turn++) await Promise.resolve();
        return;
      case 'workers':
        this.controller.maxConcurrentReconciles = action.count;
        return;
      case 'rest':
        return this.#rest();
    }
  }

  /** Ends everything and looks at what is left. */
  async end(): Promise<string[]> {
    await this.#rest();
    this.#stop();
    for (const each of [this.#warm, this.#life]) each?.abort();
    this.#release();
    this.#isCalm = true;
    await settle();
    await this.clock.advance(60); // a slow reconcile is waited for
    let isCold = false;
    void this.controller.waitUntilCold().then(() => (isCold = true));
    await settle();
    this.#must(isCold && this.controller.phase === 'cold', 'it does not become cold');
    this.#must(this.#informers.of(Pod).handlers.size === 0, 'a handler is left on an informer');
    this.#must(this.#loans === 0, `${this.#loans} informers are not returned`);
    this.#must(this.clock.pendingTimers === 0, `${this.clock.pendingTimers} timers are left`);
    this.#must(this.#running.size === 0, 'a reconcile is left');
    const listeners = this.#signals.flatMap((signal) => getEventListeners(signal, 'abort'));
    this.#must(listeners.length === 0, `${listeners.length} listeners are left on signals`);
    for (const { name, live } of this.#sources) this.#must(live() === 0, `${name} is started ${live()} times`);
    let settled = 0;
    for (const run of this.#runs) void run.then(() => settled++);
    await settle();
    this.#must(settled === this.#runs.length, 'a run does not settle');
    return this.violations;
  }

  /** Where the controller works: calms the world down, and expects every key to have been seen. */
  async #rest(): Promise<void> {
    await settle();
    if (this.controller.phase !== 'active' || this.#run?.signal.aborted !== false) return;
    this.#isCalm = true;
    const workers = this.controller.maxConcurrentReconciles;
    this.controller.maxConcurrentReconciles = 2;
    this.#release();
    if (this.#handles[channelIndex] !== undefined) {
      this.#channel.send('probe');
      this.#owed.add('probe');
    }
    await this.clock.advance(5_000);
    const channel = this.controller.sources().find(({ name }) => name === 'channel source: channel');
    if (channel?.phase !== 'synced') this.#owed.delete('probe'); // failed on poison, which its status says
    if (this.controller.phase === 'active') {
      this.#must(this.#owed.size === 0, `lost: ${[...this.#owed].join(' ')}`);
      this.#checkSources();
    }
    this.controller.maxConcurrentReconciles = workers;
    this.#isCalm = false;
  }

  #checkSources(): void {
    this.#sources.forEach(({ name, live }, index) => {
      const expected = this.#handles[index] === undefined ? 0 : 1;
      this.#must(live() === expected, `${name} is started ${live()} times instead of ${expected}`);
    });
    const count = this.#handles.filter((handle) => handle !== undefined).length + 2;
    this.#must(this.controller.sources().length === count, 'sources() has another number of sources');
  }

  #event(name: string, verb: 'add' | 'delete'): void {
    const object: KubeObject = pod(name, { resourceVersion: String(this.#version++) });
    const before = this.#pods.objects.get(name);
    if (verb === 'delete') {
      if (before === undefined) return;
      this.#owe(name);
      this.#pods.delete(before);
    } else {
      this.#owe(name);
      if (before === undefined) this.#pods.add(object);
      else this.#pods.update(before, object);
    }
  }

  #owe(name: string): void {
    if (this.#isLive) this.#owed.add(`default/${name}`);
  }

  #watch(index: number): void {
    const source = this.#sources[index];
    if (source === undefined || this.#handles[index] !== undefined) return;
    const startPolicy = index % 2 === 0 ? 'required' : 'optional';
    const handle = this.controller.watch(source.source, { startPolicy });
    handle.waitForSync().catch(() => undefined);
    this.#handles[index] = handle;
  }

  #remove(index: number): void {
    const handle = this.#handles[index];
    if (handle === undefined) return;
    this.#handles[index] = undefined;
    this.#stale.unshift({ handle, source: index });
    void handle.remove();
  }

  #begin(hasLife: boolean): void {
    const isActive = this.#run !== undefined && !this.#run.signal.aborted;
    const run = this.#newSignal();
    if (isActive) this.#refused.push(run);
    else this.#run = run;
    // What is run again from warm has everything handed over once more: another leader may have worked meanwhile.
    if (!isActive && this.controller.phase === 'warm' && this.#worked === this.#session)
      for (const name of this.#pods.objects.keys()) this.#owe(name);
    if (hasLife) this.#life ??= this.#newSignal();
    const options = hasLife && this.#life !== undefined ? { life: this.#life.signal } : {};
    const done = this.controller.run(run.signal, options).catch((error: unknown) => {
      if (this.#run === run) this.#run = undefined;
      const isDouble = error instanceof Error && error.message.includes('more than once');
      if (isDouble) this.#must(isActive, 'a run is refused although no other one is active');
      else this.#allow(error);
    });
    this.#runs.push(done);
  }

  #stop(): void {
    this.#run?.abort(new Error('the lease is lost'));
    for (const each of this.#refused.splice(0)) each.abort();
  }

  #release(): void {
    for (const release of this.#hanging) release();
    this.#hanging.clear();
  }

  #newSignal(): AbortController {
    const controller = new AbortController();
    this.#signals.push(controller.signal);
    return controller;
  }

  async #reconcile({ namespace, name }: ReconcileRequest, signal: AbortSignal): Promise<never> {
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    this.#worked = this.#session;
    this.#must(!this.#running.has(key), `${key} is reconciled twice at once`);
    this.#must(this.controller.inFlight.includes(key), `${key} is not in flight`);
    this.#running.add(key);
    this.#owed.delete(key);
    const deed = this.#isCalm ? 'done' : (this.#deeds.shift() ?? 'done');
    const owes = !['done', 'hang', 'slow'].includes(deed);
    try {
      return (await this.#perform(deed, signal)) as never;
    } finally {
      this.#running.delete(key);
      if (owes && this.#isLive && namespace !== undefined) this.#owed.add(key);
    }
  }

  #perform(deed: Deed, signal: AbortSignal): Promise<unknown> {
    switch (deed) {
      case 'done':
        return Promise.resolve();
      case 'fail':
        return Promise.reject(new Error('failed'));
      case 'throw':
        throw new TypeError('a mistake');
      case 'hostile':
        return Promise.reject(Object.create(null)); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- the subject
      case 'garbage':
        return Promise.resolve({ requeueAfterMs: Number.NaN });
      case 'backoff':
        return Promise.resolve({ backoff: true });
      case 'requeue':
        return Promise.resolve({ requeueAfterMs: 30 });
      case 'requeueNow':
        return Promise.resolve({ requeueAfterMs: 0 });
      case 'requeuePast':
        return Promise.resolve({ requeueAfterMs: -5, keep: true });
      case 'untilStop':
        return new Promise((_resolve, reject) => {
          this.#hanging.add(() => reject(new Error('released')));
          if (signal.aborted) reject(signal.reason as Error);
          else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      case 'hang':
        return new Promise((resolve) => this.#hanging.add(() => resolve(undefined)));
      case 'slow':
        return new Promise((resolve) => void this.clock.setTimer(() => resolve(undefined), 50));
    }
  }

  #makeSources(): TrackedSource[] {
    const channel: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => {
        const iterator = this.#channel[Symbol.asyncIterator]();
        return {
          next: async () => {
            const next = await iterator.next();
            if (next.done !== true && next.value.startsWith('poison')) throw new Error('poison');
            return next;
          },
        };
      },
    };
    return [
      tracked(this.#kind(Node)),
      tracked(channelSource({ name: 'channel', events: channel, handler: toSelf })),
      tracked(
        pollingSource<string, ReconcileRequest>({
          name: 'polled',
          everyMs: 700,
          identify: String,
          poll: async () => ['polled'],
          handler: toSelf,
        }),
      ),
      tracked({
        name: 'never synced',
        start: () => Promise.resolve({ waitForSync: () => new Promise(() => undefined), stop: () => undefined }),
      }),
      tracked(
        funcSource('func', ({ queue }) => {
          queue.add({ name: 'func' });
          return undefined;
        }),
      ),
      tracked({ name: 'fails to start', start: () => Promise.reject(new Error('no route')) }),
      tracked(
        pollingSource<string, ReconcileRequest>({
          name: 'hangs',
          everyMs: 100,
          identify: String,
          poll: () => new Promise(() => undefined),
          handler: toSelf,
          waitForFirst: false,
        }),
      ),
      // Required, and slow to sync: a removal often comes before.
      tracked({
        name: 'slow to sync',
        start: ({ clock }) =>
          Promise.resolve({
            waitForSync: () => new Promise((resolve) => void clock.setTimer(() => resolve(), 40)),
            stop: () => undefined,
          }),
      }),
    ];
  }

  #kind(kind: Kind): Source<ReconcileRequest> {
    const informers = {
      informer: () => Promise.reject(new Error('informers are lent here')),
      acquire: () => {
        this.#loans++;
        return {
          informer: this.#informers.of(kind) as never,
          [Symbol.asyncDispose]: () => {
            this.#loans--;
            return Promise.resolve();
          },
        };
      },
    };
    const enqueue = enqueueRequestForObject();
    let isBusy = false;
    return kindSource({
      informers,
      kind,
      handler: (event, queue, context) => {
        this.#must(!isBusy, `two calls of the handler of ${kind.kind}`);
        if (!this.#areHandlersSlow) return enqueue(event, queue, context);
        isBusy = true;
        return new Promise<void>((resolve) => void this.clock.setTimer(resolve, 5)).then(() => {
          isBusy = false;
          return enqueue(event, queue, context);
        });
      },
    });
  }

  /** Failures of sources are part of the world; anything else is not. */
  #allow(error: unknown): void {
    const isPoison = error instanceof Error && error.message === 'poison';
    if (!isPoison && !isSourceError(error)) this.#violate(`unexpected: ${String(error)}`);
  }

  #must(isTrue: boolean, what: string): void {
    if (!isTrue) this.#violate(what);
  }

  #violate(what: string): void {
    this.violations.push(what);
  }
}

interface TrackedSource {
  readonly name: string;
  readonly source: Source<ReconcileRequest>;
  /** How many starts of it have not been ended. */
  readonly live: () => number;
}

function tracked(source: Source<ReconcileRequest>): TrackedSource {
  let live = 0;
  return {
    name: source.name,
    live: () => live,
    source: {
      name: source.name,
      start: async (context) => {
        live++;
        const onEnd = (): void => void live--;
        if (context.signal.aborted) onEnd();
        else context.signal.addEventListener('abort', onEnd, { once: true });
        return source.start(context);
      },
    },
  };
}

/** An informer that says which objects each new handler gets as its initial list. */
class ListeningInformer extends StoringInformer {
  readonly #onInitial: (name: string) => void;

  constructor(onInitial: (name: string) => void) {
    super();
    this.#onInitial = onInitial;
  }

  override addEventHandler(handler: Parameters<StoringInformer['addEventHandler']>[0]) {
    for (const name of this.objects.keys()) this.#onInitial(name);
    return super.addEventHandler(handler);
  }
}

function hostileOptions(): Partial<ControllerOptions<ReconcileRequest>> {
  const throwing = (): never => {
    throw new Error('hostile');
  };
  const child = { inc: throwing, dec: throwing, set: throwing, observe: throwing };
  const family = () => ({ with: () => child, remove: throwing });
  const metrics: Metrics = { counter: family, gauge: family, histogram: family, onCollect: throwing };
  let turn = 0;
  const pick = (...answers: readonly unknown[]): unknown => answers[turn++ % answers.length];
  return {
    metrics,
    rateLimiter: {
      when: () => (pick(Number.NaN, -1, undefined) ?? throwing()) as number,
      forget: throwing,
      numRequeues: throwing,
    },
    retryPolicy: { decide: () => pick({ type: 'retry', afterMs: Number.NaN }, undefined, 'x') as never },
    onError: async () => pick('garbage', undefined, { type: 'retry', afterMs: Number.NaN }) as never,
    tracer: {
      withSpan: async (_name, _attributes, work) => {
        if (turn++ % 2 === 0) throwing();
        return work({ setAttributes: throwing, recordError: throwing, end: throwing });
      },
    },
    logFields: throwing,
  };
}
