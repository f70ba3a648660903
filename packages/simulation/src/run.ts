import { createApiServer, type ApiServer } from '@kctl/apiserver';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { messageOf } from '@kctl/telemetry/internal';
import { sleep } from '@kctl/wait';
import { FaultExecutor, labelOf } from './faults/fault-executor.js';
import { planFaults, type PlannedFault } from './faults/fault.js';
import { OtherActors } from './faults/other-actors.js';
import { immediate } from './immediate.js';
import { installResources } from './install-resources.js';
import type { Exchange } from './network/exchange.js';
import { Listeners } from './network/listeners.js';
import { Network } from './network/network.js';
import { WebhookCalls } from './replica/webhook-calls.js';
import { describeTarget } from './network/target.js';
import type { CompiledOptions } from './options.js';
import type { RunResult, RunVariation } from './run-result.js';
import { growthSince, liveObjects } from './rules/retention.js';
import { seededRandom } from './random.js';
import { ReplicaHost } from './replica/replica-host.js';
import { catchProcessErrors } from './process-errors.js';
import { cacheProblem } from './rules/caches.js';
import { stateOf } from './rules/content.js';
import { differenceOf } from './rules/difference.js';
import { endsAgain } from './rules/ends-again.js';
import { keysLeftBehind, keysLeftWaiting } from './rules/queues.js';
import { probeReadiness } from './rules/readiness.js';
import { RuleBook } from './rules/rule-book.js';
import { WatchedHandlers } from './rules/handlers.js';
import { Scheduler } from './scheduler.js';
import { createScope } from './scope-clock.js';
import { activities, causeOfCommit } from './network/activity.js';
import type { Scope } from './scope.js';
import { callerOfNow } from './stray.js';
import { Timeline, type Step } from './timeline.js';
import type { Violation } from './violation.js';
import { installVirtualGlobals } from './virtual-globals.js';
import { converge, runWorkload } from './workload.js';
import type { Operator, World } from './world.js';

/** Runs a world from its beginning to its end, or to the first rule that is broken. */
export function runSeed(options: CompiledOptions, seed: number, variation: RunVariation = {}): Promise<RunResult> {
  return new Run(options, seed, variation).execute();
}

/** A process that ended by itself is started again after about this long, in ms. */
const restartMs = 2_000;
/** How long the garbage collector and its like take to see a change, in ms. */
const controllerDelayMs = 1000;
/** A watch without bookmarks ends after ten minutes at the latest, and is opened again, in ms. */
const hungWatchMs = 660_000;
/** How many uses of one thing are checked, and then one of how many, because a stack costs more than it reveals. */
const mostStacks = 100;
const stacksThen = 50;

class Run {
  readonly #options: CompiledOptions;
  readonly #seed: number;
  readonly #variation: RunVariation;
  readonly #faultMs: number;
  readonly #timeline = new Timeline();
  readonly #scheduler: Scheduler;
  readonly #serverScope: Scope;
  readonly #userScope: Scope;
  readonly #book: RuleBook;
  readonly #server: ApiServer;
  readonly #network: Network;
  readonly #hosts: ReplicaHost[];
  readonly #faults: FaultExecutor;
  readonly #plan: readonly PlannedFault[];
  readonly #client: HttpClient;
  readonly #listeners = new Listeners();
  #quietSince: number | undefined;
  /** Why a process ended by itself, the last that did. */
  #lastEnd: unknown;
  readonly #handlers = new WatchedHandlers();
  #violation: Violation | undefined;
  #state: readonly string[] | undefined;
  readonly #strays = new Map<string, number>();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: CompiledOptions, seed: number, variation: RunVariation) {
    this.#options = options;
    this.#seed = seed;
    this.#variation = variation;
    this.#faultMs = variation.faultMs ?? options.faultMs;
    this.#scheduler = new Scheduler((error, scope) => this.#uncaught('uncaught-error', error, scope));
    this.#serverScope = this.#scope('server');
    this.#userScope = this.#scope('user');
    this.#book = new RuleBook({
      time: this.#scheduler,
      quietMs: options.quietMs,
      hosts: () => this.#hosts,
      openOf: (scope) => this.#network.openOf(scope),
      listenersOf: (scope) => this.#listeners.of(scope).length,
      ownReads: {
        random: seededRandom(seed, 'own-reads'),
        after: (scope, ms, work) => void this.#scheduler.after(scope, ms, work),
      },
      violate: (rule, message, object) => this.#violate(rule, message, object),
    });
    const webhooks = new WebhookCalls({
      scheduler: this.#scheduler,
      serverScope: this.#serverScope,
      random: seededRandom(seed, 'webhooks'),
      hosts: () => this.#hosts,
      isPartitioned: (scope) => this.#network.isPartitioned(scope),
    });
    this.#server = createApiServer({
      listen: false,
      webhookTransport: webhooks.transport,
      clock: this.#serverScope.clock,
      random: seededRandom(seed, 'server'),
      seed,
      journalEntries: 0,
      historyMs: 300_000,
      controllerDelayMs,
    });
    const network = new Network({
      scheduler: this.#scheduler,
      server: this.#server,
      serverScope: this.#serverScope,
      random: seededRandom(seed, 'network'),
      observer: {
        sending: (exchange) => this.#book.sending(exchange),
        mishapFor: (exchange) => this.#faults.mishapFor(exchange),
        arrived: () => undefined,
        answered: (exchange, status, note) => this.#answered(exchange, status, note),
      },
    });
    this.#network = network;
    this.#hosts = Array.from({ length: options.replicas }, (_, index) => this.#host(index));
    this.#plan = variation.plan ?? planFaults(seed, options.rates, 30_000, this.#faultMs);
    this.#faults = new FaultExecutor({
      scheduler: this.#scheduler,
      network,
      webhooks,
      server: this.#server,
      hosts: this.#hosts,
      userScope: this.#userScope,
      objects: this.#book.objects,
      actors: new OtherActors({
        server: this.#server,
        scope: this.#serverScope,
        hold: () => this.#network.holdUsers(),
        objects: this.#book.objects,
        sleep: (ms) => this.#sleep(ms),
        patienceMs: 2 * options.convergeWithinMs,
        stuck: (message, object) => this.#violate('deletion-stuck', message, object),
      }),
      note: (what, object) => this.#note('fault', what, object),
      disturbed: (what) => this.#book.disturbed(what),
      ended: (host) => void this.#ended(host),
    });
    this.#client = createHttpClient({
      connection: network.connectionFor(this.#userScope),
      clock: this.#userScope.clock,
      userAgent: 'workload',
      requestTimeoutMs: 0, // it waits while what it needs is made again
    });
  }

  async execute(): Promise<RunResult> {
    using _errors = catchProcessErrors((rule, error) => this.#uncaught(rule, error, this.#scheduler.current));
    using _globals = installVirtualGlobals({
      random: seededRandom(this.#seed, 'globals'),
      setTimer: (scope, callback, delayMs) => scope.clock.setTimer(callback, delayMs),
      setImmediate: (scope, callback) => immediate(this.#scheduler, scope, callback),
      listen: (scope, server) => this.#listeners.add(scope, server),
      stray: (scope, what, remedy) => this.#stray(scope, what, remedy),
    });
    const stopCommits = this.#server.onCommit((commit) => {
      const { cause, origin } = causeOfCommit();
      const caused = this.#book.committed(commit, cause, origin);
      this.#note('server', `${commit.change} revision ${commit.revision}`, caused.label);
    });
    let isOver = false;
    try {
      this.#scheduler.post(this.#userScope, () =>
        activities.run({ scope: this.#userScope }, () => {
          void this.#live()
            .catch((error: unknown) => void (this.#failure = { error }))
            .finally(() => void (isOver = true));
        }),
      );
      const { signal } = this.#options;
      await this.#scheduler.drive(
        () => isOver || this.#violation !== undefined || this.#failure !== undefined || signal?.aborted === true,
      );
    } finally {
      stopCommits();
      for (const host of this.#hosts) host.crash('at the end of the world');
      this.#userScope.isDead = true;
      this.#serverScope.isDead = true;
    }
    if (this.#violation === undefined && this.#failure !== undefined) throw this.#failure.error;
    if (this.#violation === undefined && !isOver) this.#options.signal?.throwIfAborted();
    if (this.#violation === undefined && !isOver)
      throw new Error(
        `the world of seed ${this.#seed} stands still at ${this.#scheduler.now} ms: it waits for something outside of it. Real I/O, threads and sockets are not simulated`,
      );
    return {
      seed: this.#seed,
      hash: this.#timeline.hash,
      simulatedMs: this.#scheduler.now,
      faults: this.#faults.struck,
      plan: this.#plan,
      violation: this.#violation,
      state: this.#state,
      steps: this.#timeline.steps(),
    };
  }

  async #live(): Promise<void> {
    const { settled, quietMs, isOn } = this.#options;
    await activities.run({ scope: this.#serverScope }, () => this.#server.start());
    await installResources(this.#client, this.#options.resources, (ms) => this.#sleep(ms));
    const world = this.#world();
    for (const host of this.#hosts)
      this.#scheduler.after(this.#userScope, 1000 * seededRandom(this.#seed, host.name)(), () => host.start());
    this.#faults.schedule(this.#plan);
    const work = runWorkload(this.#options.workload, world, this.#faultMs);
    await Promise.all([work, this.#sleep(this.#faultMs - this.#scheduler.now)]);
    // A stalled process has not yet seen its faults; meanwhile another may stall, by a fault that waited.
    while (this.#faults.stalledMs > 0) await this.#sleep(this.#faults.stalledMs);
    this.#book.phase = 'settling';
    this.#quietSince = this.#scheduler.now;
    this.#note('user', 'faults have ended');
    await this.#faults.end();
    await this.#converge(() => settled(world));
    if (quietMs > 0) {
      this.#book.quietBegan();
      const before = this.#variation.countObjects === true && isOn('piles-up') ? liveObjects() : undefined;
      await this.#sleep(quietMs);
      const growth = before === undefined ? undefined : growthSince(before);
      if (growth !== undefined) this.#violate('piles-up', `${growth} in ${quietMs / 60_000} quiet minutes`);
      this.#book.quietEnded();
      await this.#checkCaches();
      await this.#checkQueues();
    } else {
      const name = await endsAgain(this.#hosts, () => this.#sleep(3 * restartMs));
      if (name !== undefined) this.#violate('process-ends', `${name}: run ends each time: ${messageOf(this.#lastEnd)}`);
    }
    this.#state = stateOf(this.#book.comparable());
    const { expected } = this.#variation;
    const isCompared = isOn('differs-from-undisturbed') && expected !== undefined;
    const difference = isCompared ? differenceOf(this.#state, expected) : undefined;
    if (difference !== undefined) this.#violate('differs-from-undisturbed', difference.message, difference.object);
    this.#book.phase = 'stopping';
    await this.#stop();
  }

  /** @throws never, because a failure to converge is a violation */
  async #converge(settled: () => Promise<void> | void): Promise<void> {
    const { convergeWithinMs: withinMs } = this.#options;
    const isIdle = (): boolean => this.#book.isIdle();
    const why = await converge({ settled, isIdle, withinMs, clock: this.#userScope.clock });
    if (why === undefined) return;
    this.#violate('convergence', `not settled ${withinMs / 1000} s after the last fault: ${messageOf(why.error)}`);
  }

  /** A client detects a hanging watch only by its time-out. Until then a cache may be behind. */
  async #checkCaches(): Promise<void> {
    const until = (this.#quietSince ?? 0) + hungWatchMs;
    for (const host of this.#hosts) {
      let problem = await cacheProblem(host, this.#book.objects);
      while (problem !== undefined && this.#scheduler.now < until) {
        await this.#sleep(30_000);
        problem = await cacheProblem(host, this.#book.objects);
      }
      if (problem !== undefined) this.#violate(problem.rule, problem.message, problem.object);
      await this.#handlers.compare(host, (ms) => this.#sleep(ms));
    }
  }

  async #checkQueues(): Promise<void> {
    for (const host of this.#hosts) {
      const left = await keysLeftWaiting(host, (ms) => this.#sleep(ms));
      if (left !== undefined) this.#violate('piles-up', `${host.name}: ${left}`);
    }
  }

  async #stop(): Promise<void> {
    const { stopWithinMs } = this.#options;
    for (const host of this.#hosts) {
      if (!host.isAlive) continue;
      host.stop();
      const { operator } = host;
      const ended = { is: false };
      void host.ended.then(() => {
        ended.is = true;
      });
      const deadline = this.#scheduler.now + stopWithinMs;
      while (!ended.is && this.#scheduler.now < deadline) await this.#sleep(500);
      if (!ended.is) {
        const left = [...host.running.values()].map(({ controller, key }) => `${controller} ${key}`);
        this.#violate(
          'stop-hangs',
          `${host.name}: run has not ended ${stopWithinMs / 1000} s after its signal was aborted${left.length === 0 ? '' : `: still reconciling ${left.join(', ')}. Pass the signal of the reconcile to everything that waits`}`,
        );
        return;
      }
      await this.#sleep(200);
      await this.#ended(host, operator);
    }
  }

  /** A run has ended after a stop, so nothing of it may be left. */
  async #ended(host: ReplicaHost, operator: Operator | undefined = host.operator): Promise<void> {
    this.#book.stopped(host);
    const left = await keysLeftBehind(host, operator);
    if (left !== undefined) this.#violate('left-behind', left);
  }

  #world(): World {
    const { clock } = this.#userScope;
    return {
      seed: this.#seed,
      client: this.#client,
      connection: this.#network.connectionFor(this.#userScope),
      clock,
      random: seededRandom(this.#seed, 'workload'),
      server: this.#server,
      replicas: this.#hosts,
      sleep: (ms) => this.#sleep(ms),
      violate: (rule, message, object) => this.#violate(rule, message, object),
      note: (what, object) => this.#note('user', what, object),
    };
  }

  #host(index: number): ReplicaHost {
    const name = `replica-${index + 1}`;
    return new ReplicaHost({
      name,
      operator: this.#options.operator,
      scheduler: this.#scheduler,
      network: this.#network,
      random: seededRandom(this.#seed, name),
      observer: {
        note: (who, what, object) => this.#note(who, what, object),
        reconcileBegan: (scope, reconcile) => this.#book.reconcileBegan(scope, reconcile),
        reconcileEnded: (scope, reconcile, error) => this.#book.reconcileEnded({ scope, reconcile, error }),
        stopping: (host) => this.#handlers.end(host),
        made: (made, scope, operator) => this.#witness(made, scope, operator),
        violate: (rule, message, object) => this.#violate(rule, message, object),
        unusable: (error) => void (this.#failure ??= { error }),
        changed: (host, error) => this.#changed(host, error),
      },
    });
  }

  /** Lets handlers join and leave the informers of a process, and probes its readiness. */
  #witness(host: ReplicaHost, scope: Scope, { cache }: Operator): void {
    probeReadiness(host, scope, {
      scheduler: this.#scheduler,
      listeners: this.#listeners,
      quietSince: () => this.#quietSince,
      violate: (rule, message) => this.#violate(rule, message),
    });
    if (!this.#options.isOn('illegal-history')) return;
    this.#handlers.watch(host, scope, cache, {
      scheduler: this.#scheduler,
      random: seededRandom(this.#seed, `handlers of ${host.name} ${host.incarnation}`),
      objects: this.#book.objects,
      violate: (message, object) => this.#violate('illegal-history', message, object),
    });
  }

  /** A process that ends by itself is started again, as a kubelet does. */
  #changed(host: ReplicaHost, error: unknown): void {
    this.#book.replicaChanged(host);
    if (!host.isAlive && host.scope !== undefined) this.#listeners.bury(host.scope);
    if (error === undefined || !host.isAlive) return;
    if (host.isStopping && this.#book.phase !== 'stopping') return; // stopped in the middle of faults
    if (host.isStopping) {
      this.#violate(
        'stop-fails',
        `${host.name}: run rejected after its signal was aborted: ${messageOf(error)}. Work must end with its signal: pass the signal of the reconcile to everything that waits`,
      );
      return;
    }
    if (this.#book.phase === 'quiet')
      this.#violate('process-ends', `${host.name}: run ended by itself in quiet times: ${messageOf(error)}`);
    this.#lastEnd = error;
    host.crash('after it ended by itself');
    this.#scheduler.after(this.#userScope, restartMs, () => {
      if (!host.isAlive) host.start();
    });
  }

  #answered(exchange: Exchange, status: number, note: string): void {
    this.#book.answered(exchange, status);
    if (exchange.isWatch && status === 200) this.#faults.opened(exchange);
    const { scope, target, path } = exchange;
    const what = `${describeTarget(target, path)} → ${status === 0 ? note : status}`;
    this.#note(scope.name, what, target.name === '' ? '' : labelOf(exchange));
  }

  #scope(kind: 'server' | 'user'): Scope {
    const random = kind === 'user' ? () => 0 : seededRandom(this.#seed, kind);
    return createScope(this.#scheduler, { name: kind, kind, random }).scope;
  }

  #sleep(ms: number): Promise<void> {
    return sleep(ms, { clock: this.#userScope.clock });
  }

  #stray(scope: Scope, what: string, remedy: string): void {
    if (scope.kind !== 'replica' || scope.isDead || !this.#options.isOn('stray')) return;
    const count = (this.#strays.get(what) ?? 0) + 1;
    this.#strays.set(what, count);
    // The stack's own uses, which are allowed, must not be all that is looked at.
    if (count > mostStacks && count % stacksThen !== 0) return;
    const where = callerOfNow();
    if (where === undefined) return;
    this.#violate('stray', `${what} is called at ${where}, past what the world gave: ${remedy}`);
  }

  #note(who: string, what: string, object = ''): void {
    const step: Step = { at: this.#scheduler.now, who, object, what };
    this.#timeline.add(step);
    this.#variation.onStep?.(step);
  }

  #violate(rule: string, message: string, object?: string): void {
    if (this.#violation !== undefined || !this.#options.isOn(rule)) return;
    this.#note('rule', `${rule}: ${message.split('\n')[0] ?? ''}`, object);
    this.#violation = { rule, message, at: this.#scheduler.now, ...(object === undefined ? {} : { object }) };
  }

  #uncaught(rule: string, error: unknown, scope: Scope | undefined): void {
    if (scope?.isDead === true) return;
    const lines = (error instanceof Error ? (error.stack ?? error.message) : String(error)).split('\n');
    this.#violate(rule, `${scope?.name ?? 'the world'}: ${lines.slice(0, 4).join('\n  ')}`);
  }
}
