// A controller, a world around it, and what must hold of them whatever happens, at any await.
import { getEventListeners } from 'node:events';
import type { KubeObject } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import type { Controller, WatchHandle } from '../../src/index.js';
import { createController, createRetryPolicy, isSourceError } from '../../src/index.js';
import { Pod, pod } from '../fakes.js';
import { RecordingMetrics } from '../recording-metrics.js';
import type { Action, Deed, ModelOptions } from './actions.js';
import { hostileOptions } from './hostile-options.js';
import { channelIndex, LifeSources } from './sources.js';
import { LifeWork } from './work.js';

export class LifeModel {
  readonly clock: FakeClock = new FakeClock();
  readonly violations: string[] = [];
  readonly controller: Controller;
  readonly #sources: LifeSources;
  readonly #work: LifeWork;
  readonly #signals: AbortSignal[] = [];
  readonly #runs: Promise<void>[] = [];
  readonly #handles: (WatchHandle | undefined)[];
  readonly #stale: { readonly handle: WatchHandle; readonly source: number }[] = [];
  #poisoned = 0;
  #run: AbortController | undefined;
  /** Runs that were called beside an active one: refused, unless that is told to stop before it begins. */
  readonly #refused: AbortController[] = [];
  #warm: AbortController | undefined;
  #life: AbortController | undefined;
  /** The signal of the watch of pods, which is never removed: that of the session. */
  #session: AbortSignal | undefined;
  /** The session of the last reconcile. */
  #worked: AbortSignal | undefined;
  #version = 1;

  constructor(deeds: readonly Deed[], options: ModelOptions) {
    const { clock } = this;
    const must = (isTrue: boolean, what: string): void => this.#must(isTrue, what);
    this.#sources = new LifeSources({
      clock,
      must,
      areHandlersSlow: options.areHandlersSlow,
      onInitial: (name) => this.#work.owed.add(`default/${name}`),
    });
    this.#work = new LifeWork(deeds, {
      clock,
      must,
      isLive: () => this.#isLive,
      inFlight: () => this.controller.inFlight,
      onBegin: () => (this.#worked = this.#session),
    });
    this.controller = createController({
      name: 'life',
      enableWarmup: true,
      maxConcurrentReconciles: 2,
      clock: this.clock,
      random: () => 0.5,
      retryPolicy: createRetryPolicy({ delayMs: (attempt) => Math.min(attempt * 10, 100) }),
      reconciler: (request, { signal }) => this.#work.reconcile(request, signal),
      usePriorityQueue: options.usePriorityQueue,
      eventsDuringBackoff: options.eventsDuringBackoff,
      ...(options.isDebounced ? { debounce: { quietMs: 20, maxMs: 60 } } : {}),
      ...(options.isLimited ? { runLimit: { runs: 3, perMs: 100 } } : {}),
      ...(options.isHostile ? hostileOptions() : { metrics: new RecordingMetrics() }),
    });
    const pods = this.#sources.kind(Pod);
    this.controller.watch({
      name: pods.name,
      start: (context) => {
        this.#session = context.signal;
        // With the session goes its queue. The next one lists what exists.
        context.signal.addEventListener('abort', () => this.#work.owed.clear(), { once: true });
        return pods.start(context);
      },
    });
    this.controller.reconcileAllOn(this.#sources.trigger());
    this.#handles = this.#sources.all.map(() => undefined);
  }

  get #isLive(): boolean {
    return this.#sources.pods.handlers.size > 0 && this.#session?.aborted === false;
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
        if (this.controller.phase === 'active') for (const name of this.#sources.pods.objects.keys()) this.#owe(name);
        this.#sources.config.send('changed');
        return;
      case 'send':
        this.#sources.channel.send(action.key);
        return;
      case 'poison':
        this.#sources.channel.send(`poison ${this.#poisoned++}`);
        return;
      case 'release':
        this.#work.release();
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
    this.#work.release();
    this.#work.isCalm = true;
    await settle();
    await this.clock.advance(60); // a slow reconcile is waited for
    let isCold = false;
    void this.controller.waitUntilCold().then(() => (isCold = true));
    await settle();
    this.#must(isCold && this.controller.phase === 'cold', 'it does not become cold');
    this.#must(this.#sources.handlers === 0, 'a handler is left on an informer');
    this.#must(this.#sources.loans === 0, `${this.#sources.loans} informers are not returned`);
    this.#must(this.clock.pendingTimers === 0, `${this.clock.pendingTimers} timers are left`);
    this.#must(this.#work.running.size === 0, 'a reconcile is left');
    const listeners = this.#signals.flatMap((signal) => getEventListeners(signal, 'abort'));
    this.#must(listeners.length === 0, `${listeners.length} listeners are left on signals`);
    for (const { name, live } of this.#sources.all) this.#must(live() === 0, `${name} is started ${live()} times`);
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
    this.#work.isCalm = true;
    const workers = this.controller.maxConcurrentReconciles;
    this.controller.maxConcurrentReconciles = 2;
    this.#work.release();
    if (this.#handles[channelIndex] !== undefined) {
      this.#sources.channel.send('probe');
      this.#work.owed.add('probe');
    }
    await this.clock.advance(5_000);
    const channel = this.controller.sources().find(({ name }) => name === 'channel source: channel');
    if (channel?.phase !== 'synced') this.#work.owed.delete('probe'); // failed on poison, which its status says
    if (this.controller.phase === 'active') {
      this.#must(this.#work.owed.size === 0, `lost: ${[...this.#work.owed].join(' ')}`);
      this.#checkSources();
    }
    this.controller.maxConcurrentReconciles = workers;
    this.#work.isCalm = false;
  }

  #checkSources(): void {
    this.#sources.all.forEach(({ name, live }, index) => {
      const expected = this.#handles[index] === undefined ? 0 : 1;
      this.#must(live() === expected, `${name} is started ${live()} times instead of ${expected}`);
    });
    const count = this.#handles.filter((handle) => handle !== undefined).length + 2;
    this.#must(this.controller.sources().length === count, 'sources() has another number of sources');
  }

  #event(name: string, verb: 'add' | 'delete'): void {
    const object: KubeObject = pod(name, { resourceVersion: String(this.#version++) });
    const before = this.#sources.pods.objects.get(name);
    if (verb === 'delete') {
      if (before === undefined) return;
      this.#owe(name);
      this.#sources.pods.delete(before);
    } else {
      this.#owe(name);
      if (before === undefined) this.#sources.pods.add(object);
      else this.#sources.pods.update(before, object);
    }
  }

  #owe(name: string): void {
    if (this.#isLive) this.#work.owed.add(`default/${name}`);
  }

  #watch(index: number): void {
    const source = this.#sources.all[index];
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
      for (const name of this.#sources.pods.objects.keys()) this.#owe(name);
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

  #newSignal(): AbortController {
    const controller = new AbortController();
    this.#signals.push(controller.signal);
    return controller;
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
