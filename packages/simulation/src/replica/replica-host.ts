import type { Tracer } from '@kctl/telemetry';
import { messageOf } from '@kctl/telemetry/internal';
import { shownType } from '@kctl/options';
import { type Random } from '@kctl/wait';
import type { Network } from '../network/network.js';
import { ReplicaLogger } from '../replica-logger.js';
import type { Scheduler } from '../scheduler.js';
import { createScope, type ScopeClock } from '../scope-clock.js';
import { activities } from '../network/activity.js';
import type { ReconcileActivity, Scope } from '../scope.js';
import type { Operator, Replica, ReplicaWorld, WorldOptions } from '../world.js';

/** Reports of a host to the run. */
export interface HostObserver {
  note(who: string, what: string, object?: string): void;
  reconcileBegan(scope: Scope, reconcile: ReconcileActivity): void;
  reconcileEnded(scope: Scope, reconcile: ReconcileActivity, error: unknown): void;
  /** An operator was made, and is about to run. */
  made(host: ReplicaHost, scope: Scope, operator: Operator): void;
  /** Its stop was requested. */
  stopping(host: ReplicaHost): void;
  /** The operator reports that a rule of the test is broken. */
  violate(rule: string, message: string, object?: string): void;
  /** The factory did not return an operator, so no run can continue. */
  unusable(error: Error): void;
  /** A process started or ended. `error`: it ended by itself with one. */
  changed(host: ReplicaHost, error?: unknown): void;
}

/** Options of {@link ReplicaHost}. */
export interface ReplicaHostOptions {
  readonly name: string;
  readonly operator: (world: ReplicaWorld) => Operator | Promise<Operator>;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly random: Random;
  readonly observer: HostObserver;
}

/** A machine that runs one replica of the operator, and starts, kills, restarts and stops it. */
export class ReplicaHost implements Replica {
  readonly name: string;
  readonly #options: ReplicaHostOptions;
  #scope: Scope | undefined;
  #clock: ScopeClock | undefined;
  #operator: Operator | undefined;
  #given: WorldOptions | undefined;
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #reconciles = 0;
  /** Reconciles that run, by id. */
  readonly running: Map<number, ReconcileActivity> = new Map();
  /** How many reconciles of each controller have begun in this process. */
  readonly begun: Map<string, number> = new Map();
  incarnation = 0;
  /** The wall clock of the machine, which survives the process. */
  skewMs: number;
  /** Whether its stop was requested. */
  isStopping = false;

  constructor(options: ReplicaHostOptions) {
    this.name = options.name;
    this.#options = options;
    this.skewMs = Math.round((options.random() - 0.5) * 4000);
  }

  get scope(): Scope | undefined {
    return this.#scope;
  }

  get isAlive(): boolean {
    return this.#scope !== undefined && !this.#scope.isDead;
  }

  get operator(): Operator | undefined {
    return this.isAlive ? this.#operator : undefined;
  }

  /** Resolves when the process has ended by itself, or because it was stopped. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Starts a process without any state of an earlier one. */
  start(): void {
    const { scheduler, random, network, name } = { ...this.#options, name: this.name };
    this.incarnation++;
    this.isStopping = false;
    const { scope, clock } = createScope(scheduler, { name, kind: 'replica', random });
    clock.skewMs = this.skewMs;
    this.#scope = scope;
    this.#clock = clock;
    this.#operator = undefined;
    this.running.clear();
    this.begun.clear();
    this.#stop = new AbortController();
    const stop = this.#stop.signal;
    const given: WorldOptions = {
      connection: network.connectionFor(scope),
      clock,
      logger: new ReplicaLogger(scope, (what, object) => this.#options.observer.note(name, what, object)),
      tracer: this.#tracer(scope),
    };
    this.#given = given;
    const violate: ReplicaWorld['violate'] = (rule, message, object) => {
      if (!scope.isDead) this.#options.observer.violate(rule, `${name}: ${message}`, object);
    };
    const world: ReplicaWorld = { ...given, name, incarnation: this.incarnation, random, violate, options: given };
    this.#options.observer.note(name, this.incarnation === 1 ? 'starts' : `starts again (${this.incarnation})`);
    this.#ended = activities.run({ scope }, () => this.#run(scope, world, stop));
    this.#options.observer.changed(this);
  }

  /** Kills the process, so that nothing of it runs again and its connections end. */
  crash(why: string): void {
    const scope = this.#scope;
    if (scope === undefined || scope.isDead) return;
    this.#options.observer.note(this.name, `crashes ${why}`);
    this.#end(scope);
  }

  /** Aborts the signal of `run`. */
  stop(): void {
    const scope = this.#scope;
    if (scope === undefined || scope.isDead) return;
    this.isStopping = true;
    this.#options.observer.stopping(this);
    this.#options.scheduler.post(scope, () => activities.run({ scope }, () => this.#stop.abort()));
  }

  /** Calls a webhook of the operator, in the scope of the process. @throws Error if it has no webhook at the path */
  async callWebhook(
    path: string,
    request: { readonly body: unknown; readonly signal: AbortSignal },
  ): Promise<{ readonly code?: number; readonly body: unknown }> {
    const webhook = this.operator?.webhooks?.get(path);
    if (webhook === undefined || this.#given === undefined) throw new Error(`${this.name} has no webhook at ${path}`);
    return await webhook.handle({ ...request, path, logger: this.#given.logger });
  }

  /** Makes the wall clock of the machine jump. */
  jump(byMs: number): void {
    this.skewMs += byMs;
    if (this.#clock !== undefined) this.#clock.skewMs = this.skewMs;
  }

  async #run(scope: Scope, world: ReplicaWorld, stop: AbortSignal): Promise<void> {
    let failure: unknown;
    try {
      const operator = await this.#options.operator(world);
      if (!isOperator(operator)) {
        const shown = shownType(operator);
        this.#options.observer.unusable(
          new TypeError(`simulate: operator made ${shown}: expected an object that has run(signal), such as a manager`),
        );
        return;
      }
      this.#operator = operator;
      if (!scope.isDead) this.#options.observer.made(this, scope, operator);
      await operator.run(stop);
    } catch (error) {
      failure = error ?? new Error('the operator rejected with nothing');
    }
    if (scope.isDead) return;
    this.#options.observer.note(
      this.name,
      failure === undefined ? 'run ended' : `run ended with ${messageOf(failure)}`,
    );
    this.#options.observer.changed(this, failure ?? (stop.aborted ? undefined : new Error('run ended without a stop')));
  }

  /** Ends the process of a scope. */
  #end(scope: Scope): void {
    scope.isDead = true;
    closeMetrics(this.#operator);
    this.#options.network.bury(scope);
    this.running.clear();
    this.#options.observer.changed(this);
  }

  #tracer(scope: Scope): Tracer {
    const { observer, scheduler } = this.#options;
    return {
      withSpan: async (name, attributes, work) => {
        if (name !== 'reconcile') return await work(silentSpan);
        const { controller, request } = attributes;
        const reconcile: ReconcileActivity = {
          id: ++this.#reconciles,
          controller: String(controller),
          key: String(request),
          startedAt: scheduler.now,
        };
        let failure: unknown;
        this.running.set(reconcile.id, reconcile);
        this.begun.set(reconcile.controller, (this.begun.get(reconcile.controller) ?? 0) + 1);
        observer.reconcileBegan(scope, reconcile);
        const span = { ...silentSpan, recordError: (error: unknown) => void (failure = error) };
        try {
          return await activities.run({ scope, reconcile }, () => work(span));
        } catch (error) {
          failure = error;
          throw error;
        } finally {
          if (!scope.isDead) {
            this.running.delete(reconcile.id);
            observer.reconcileEnded(scope, reconcile, failure);
          }
        }
      },
    };
  }
}

const silentSpan = { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined };

function isOperator(made: unknown): made is Operator {
  return typeof made === 'object' && made !== null && typeof Reflect.get(made, 'run') === 'function';
}

/** A crashed process leaves nothing; what its metrics measure in real time is of this process. */
function closeMetrics(operator: Operator | undefined): void {
  const metrics = operator?.metrics;
  if (typeof metrics === 'object' && metrics !== null && 'close' in metrics && typeof metrics.close === 'function')
    Reflect.apply(metrics.close, metrics, []);
}
