import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { ElectorFactory, OnLost } from './elector.js';
import { ManagerError } from './errors.js';
import type { RunnableError } from './errors.js';
import type { InformerDemand } from './informer-demand.js';
import { LeaderScope } from './leader-scope.js';
import type { Runnable, RunnableRunOptions } from './runnable.js';
import { groupOf } from './runnable.js';
import { RunnableGroup } from './runnable-group.js';

/** Options of {@link Runnables}. */
export interface RunnablesOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newElector: ElectorFactory | undefined;
  readonly onLost: OnLost;
  readonly rejoinTimeoutMs: number;
  readonly demand: InformerDemand;
  /** A runnable failed. */
  readonly onError: (error: RunnableError) => void;
  /** Something failed that must end the manager. */
  readonly fail: (error: unknown) => void;
}

/** All runnables of a manager by group. */
export class Runnables {
  readonly servers: RunnableGroup;
  readonly webhooks: RunnableGroup;
  readonly caches: RunnableGroup;
  readonly others: RunnableGroup;
  readonly warmups: RunnableGroup;
  readonly #scopes = new Map<string, LeaderScope>();
  readonly #allGroups: RunnableGroup[] = [];
  readonly #groups = new Map<Runnable, RunnableGroup[]>();
  readonly #controllerNames = new Map<string, Runnable>();
  readonly #options: RunnablesOptions;
  #count = 0;
  #isPrepared = false;
  #isElecting = false;
  #isStopping = false;

  constructor(options: RunnablesOptions) {
    this.#options = options;
    this.servers = this.#newGroup('servers');
    this.webhooks = this.#newGroup('webhooks');
    this.caches = this.#newGroup('caches');
    this.others = this.#newGroup('others');
    this.warmups = this.#newGroup('warmups', true);
    this.scope('');
  }

  get scopes(): LeaderScope[] {
    return [...this.#scopes.values()];
  }

  /** Everything that was added and not removed. */
  get all(): Iterable<Runnable> {
    return this.#groups.keys();
  }

  /** Whether it was added and not removed. */
  has(runnable: Runnable): boolean {
    return this.#groups.has(runnable);
  }

  /** Names of the lease scopes. */
  get scopeNames(): Iterable<string> {
    return this.#scopes.keys();
  }

  /** The lease scope of that name, made on first use. */
  scope(name: string): LeaderScope {
    const known = this.#scopes.get(name);
    if (known !== undefined) return known;
    const { clock, logger, onLost, rejoinTimeoutMs, fail, newElector } = this.#options;
    const mayRejoin = newElector !== undefined && onLost !== 'exit';
    const group = this.#newGroup(name === '' ? 'leader' : `leader of ${name}`, mayRejoin);
    const idle = (): Promise<void> => this.idle();
    const scope = new LeaderScope({ scope: name, group, clock, logger, onLost, rejoinTimeoutMs, idle, fail });
    // One that comes while the groups start leads no sooner than the others, and by a lease as they do.
    if (this.#isPrepared) scope.prepare(newElector);
    if (this.#isElecting) scope.start();
    this.#scopes.set(name, scope);
    return scope;
  }

  /** Whether nothing of any runnable is left. */
  get isIdle(): boolean {
    return this.#allGroups.every((group) => group.isIdle);
  }

  /** Resolves once {@link isIdle}. */
  async idle(): Promise<void> {
    while (!this.isIdle) await Promise.all(this.#allGroups.map((group) => group.idle()));
  }

  /** Makes all electors. @throws whatever is wrong with their options */
  prepareElection(): void {
    this.#isPrepared = true;
    for (const scope of this.#scopes.values()) scope.prepare(this.#options.newElector);
  }

  /** Begins to compete. */
  startElection(): void {
    this.#isElecting = true;
    for (const scope of this.#scopes.values()) scope.start();
  }

  /** No new runnable is accepted, and winning a lease starts nothing. */
  close(): void {
    this.#isStopping = true;
    for (const scope of this.#scopes.values()) scope.neutralise();
  }

  /** @returns the name it goes by */
  add(runnable: Runnable): string {
    const name = runnable.name ?? `runnable ${++this.#count}`;
    if (this.#isStopping)
      throw new ManagerError(`can't accept new runnable as stop procedure is already engaged: ${name}`);
    if (this.#groups.has(runnable)) throw new ManagerError(`${name} was added already`);
    this.#requireFreeName(name, runnable);
    const group = this.#groupFor(runnable);
    const groups = [group];
    const { warmup } = runnable;
    const cold =
      runnable.waitUntilCold === undefined ? {} : { waitUntilCold: async () => await runnable.waitUntilCold?.() };
    // Before its first step, in which it may remove itself.
    this.#groups.set(runnable, groups);
    if (hasUniqueName(runnable)) this.#controllerNames.set(name, runnable);
    const isLeft = (): boolean => this.#groups.get(runnable) !== groups;
    try {
      group.add({
        name,
        runnable,
        run: (signal, options) => runnable.run(signal, options),
        waitForReady: async (signal) => await runnable.waitForReady?.(signal),
        ...cold,
      });
      if (isLeft()) return name;
      if (warmup !== undefined) {
        // By its life, not by the signal of its run, because work that it has started continues long after it has
        // finished.
        const warmUp = (signal: AbortSignal, { life = signal }: RunnableRunOptions): Promise<void> =>
          warmup.call(runnable, life);
        groups.push(this.warmups);
        this.warmups.add({ name: `warm-up of ${name}`, runnable, run: warmUp, ...cold });
      }
    } catch (error) {
      this.#forget(runnable);
      throw error;
    }
    if (!isLeft()) this.#options.demand.add(runnable);
    return name;
  }

  async remove(runnable: Runnable): Promise<void> {
    const groups = this.#groups.get(runnable) ?? [];
    this.#forget(runnable);
    // Now, because it may be added again, and need its informers anew, before it has ended.
    const returnInformers = this.#options.demand.remove(runnable);
    await Promise.all(groups.map((group) => group.remove(runnable)));
    await returnInformers();
  }

  #forget(runnable: Runnable): void {
    this.#groups.delete(runnable);
    if (this.#controllerNames.get(runnable.name ?? '') === runnable) this.#controllerNames.delete(runnable.name ?? '');
  }

  #requireFreeName(name: string, runnable: Runnable): void {
    if (hasUniqueName(runnable) && this.#controllerNames.has(name))
      throw new ManagerError(
        `controller with name ${name} already exists. Controller names must be unique to avoid multiple controllers reporting the same metric. Set skipNameValidation to allow it`,
      );
  }

  #groupFor(runnable: Runnable): RunnableGroup {
    switch (groupOf(runnable)) {
      case 'servers':
        return this.servers;
      case 'webhooks':
        return this.webhooks;
      case 'caches':
        return this.caches;
      case 'others':
        return this.others;
      case 'leader':
        return this.scope(runnable.leaderElectionScope ?? '').group;
    }
  }

  #newGroup(name: string, isRestartable = false): RunnableGroup {
    const { logger, onError } = this.#options;
    const group = new RunnableGroup({ name, logger, onError, isRestartable });
    this.#allGroups.push(group);
    return group;
  }
}

function hasUniqueName({ runnableType, settings }: Runnable): boolean {
  return runnableType === 'controller' && settings?.skipNameValidation !== true;
}
