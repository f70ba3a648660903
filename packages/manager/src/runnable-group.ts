import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '@kctl/telemetry';
import { anySignal, isAbortError, untilAborted } from '@kctl/wait';
import { ManagerError, RunnableError } from './errors.js';
import type { Straggler } from './errors.js';
import type { Runnable, RunnableRunOptions } from './runnable.js';

/** A runnable in a group, with its `run` or its `warmup`. */
export interface GroupMember {
  readonly name: string;
  readonly runnable: Runnable;
  readonly run: (signal: AbortSignal, options: RunnableRunOptions) => Promise<void>;
  /** If absent, ready as soon as it runs. */
  readonly waitForReady?: (signal: AbortSignal) => Promise<unknown>;
  /** If absent, nothing is left when `run` has settled. */
  readonly waitUntilCold?: () => Promise<void>;
}

/** Options of {@link RunnableGroup}. */
export interface RunnableGroupOptions {
  readonly name: string;
  readonly logger: Logger;
  /** Whether members may be started again after {@link RunnableGroup.pause}. */
  readonly isRestartable: boolean;
  /** Called with the failure of a member, at any time. Must not throw. */
  readonly onError: (error: RunnableError) => void;
}

interface Running {
  readonly abort: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Members that start together and stop together. */
export class RunnableGroup {
  readonly #options: RunnableGroupOptions;
  readonly #members = new Map<Runnable, GroupMember>();
  /** Aborted when a member will not be run again. */
  readonly #lives = new Map<GroupMember, AbortController>();
  readonly #running = new Map<GroupMember, Running>();
  /** Members that are stopped for good, until nothing of them is left. */
  readonly #cooling = new Map<GroupMember, Promise<void>>();
  #state: 'new' | 'started' | 'stopped' = 'new';
  /** Runs a function in the async context of the last start, which identifies code as the leader's. */
  #asStarted: <R>(launch: () => R) => R = (launch) => launch();

  constructor(options: RunnableGroupOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Whether nothing of any member is left. */
  get isIdle(): boolean {
    return this.#running.size === 0 && this.#cooling.size === 0;
  }

  /** Resolves once {@link isIdle}. */
  async idle(): Promise<void> {
    while (!this.isIdle)
      await Promise.all([...[...this.#running.values()].map(({ ended }) => ended), ...this.#cooling.values()]);
  }

  /**
   * Takes a member in; one that comes after the start is started at once.
   *
   * @throws ManagerError when the group was stopped
   */
  add(member: GroupMember): void {
    if (this.#state === 'stopped')
      throw new ManagerError(
        `can't accept new runnable as stop procedure is already engaged: ${member.name} in group ${this.name}`,
      );
    this.#members.set(member.runnable, member);
    // Its failure is reported by onError.
    if (this.#state === 'started') this.#asStarted(() => this.#launch(member)).catch(() => undefined);
  }

  /** Stops one member and forgets it; resolves when nothing of it is left. */
  async remove(runnable: Runnable): Promise<void> {
    const member = this.#members.get(runnable);
    if (member === undefined) return;
    this.#members.delete(runnable);
    const running = this.#running.get(member);
    const reason = new DOMException(`${member.name} was removed`, 'AbortError');
    const cold = this.#coolDown(member, reason);
    running?.abort.abort(reason);
    await running?.ended;
    await cold;
  }

  /** Starts every member and resolves when all are ready; rejects when one fails or ends in failure before that. */
  async start(): Promise<void> {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    this.#asStarted = AsyncLocalStorage.snapshot();
    const launch = async (member: GroupMember): Promise<void> => {
      // One that starts may remove another that was to start after it.
      if (this.#members.get(member.runnable) === member) await this.#launch(member);
    };
    await Promise.all([...this.#members.values()].map(launch));
  }

  /**
   * Refuses new members, aborts the signals of all, and waits until all have ended or `deadline` is aborted, in which
   * case the remaining ones are its result. Final.
   */
  stop(deadline: AbortSignal, reason: unknown): Promise<Straggler[]> {
    this.#state = 'stopped';
    for (const member of this.#members.values()) void this.#coolDown(member, reason);
    return this.#end(deadline, reason);
  }

  /**
   * Aborts the signals of all members and waits until they have ended or `deadline` is aborted, in which case the
   * remaining ones are its result. All of them, and those that are added meanwhile, start with the next {@link start}.
   */
  pause(deadline: AbortSignal, reason: unknown): Promise<Straggler[]> {
    if (this.#state === 'started') this.#state = 'new';
    return this.#end(deadline, reason);
  }

  async #end(deadline: AbortSignal, reason: unknown): Promise<Straggler[]> {
    for (const { abort } of this.#running.values()) abort.abort(reason);
    await untilAborted(this.idle(), deadline);
    return [...new Set([...this.#running.keys(), ...this.#cooling.keys()])].map(({ name, runnable }) => ({
      runnable: name,
      group: this.name,
      work: workOf(runnable),
    }));
  }

  /** Marks a member as not to be run again, and resolves when nothing of it is left. Never rejects. */
  #coolDown(member: GroupMember, reason: unknown): Promise<void> {
    const life = this.#lives.get(member);
    if (life === undefined) return Promise.resolve(); // it was never run
    this.#lives.delete(member);
    life.abort(reason);
    if (member.waitUntilCold === undefined) return Promise.resolve();
    const cold = invoke(member.waitUntilCold).then(
      () => void this.#cooling.delete(member),
      (error: unknown) => {
        this.#cooling.delete(member);
        this.#options.onError(new RunnableError(member.name, error));
      },
    );
    this.#cooling.set(member, cold);
    return cold;
  }

  #lifeOf(member: GroupMember): AbortController {
    const known = this.#lives.get(member);
    if (known !== undefined) return known;
    const life = new AbortController();
    this.#lives.set(member, life);
    return life;
  }

  async #launch(member: GroupMember): Promise<void> {
    const abort = new AbortController();
    const { name } = member;
    const life = this.#lifeOf(member).signal;
    const failure = Promise.withResolvers<never>();
    failure.promise.catch(() => undefined);
    const run = (): Promise<void> => member.run(abort.signal, this.#options.isRestartable ? { life } : {});
    // Before its first step, in which it may remove itself.
    const ending = Promise.withResolvers<undefined>();
    const ended = ending.promise;
    this.#running.set(member, { abort, ended });
    void invoke(run)
      .then(
        () => {
          this.#running.delete(member);
          if (!abort.signal.aborted) this.#options.logger.debug('runnable finished', { runnable: name });
        },
        (error: unknown) => {
          this.#running.delete(member);
          // Rejecting with the abort signal's reason counts as having stopped.
          if (abort.signal.aborted && isOfStop(error, abort.signal.reason)) return;
          const failed = new RunnableError(name, error);
          failure.reject(failed);
          this.#options.onError(failed);
        },
      )
      .then(() => ending.resolve(undefined), ending.reject);
    if (member.waitForReady === undefined || abort.signal.aborted) return;
    // A member that failed is never ready, and one that has finished has nothing more to get ready. The wait ends with
    // either, or its timer would keep the process alive.
    const over = new AbortController();
    using link = anySignal([abort.signal, over.signal]);
    const ready = member.waitForReady(link.signal).catch((error: unknown) => {
      if (link.signal.aborted) return;
      const failed = new RunnableError(name, error);
      this.#options.onError(failed);
      throw failed;
    });
    try {
      await Promise.race([ready, failure.promise, ended]);
    } finally {
      over.abort(new DOMException(`${name} has ended or is ready`, 'AbortError'));
    }
  }
}

/** How deep the causes of a failure are looked at. */
const maxCauses = 16;

/**
 * Whether a member failed because it was stopped. Its error, or a cause of it, is then an abort, the reason of the
 * stop, or the cause of that reason. A lost lease ends the writes of its leader by itself. Those in progress end with
 * the reason of the loss, later ones with a NotLeaderError of @kctl/leader-election, identified by its code.
 */
function isOfStop(error: unknown, reason: unknown): boolean {
  if (error === reason || isAbortError(error)) return true;
  const reasons = causesOf(reason);
  return causesOf(error).some(
    (link) => isAbortError(link) || reasons.includes(link) || ('code' in link && link.code === 'KCTL_NOT_LEADER'),
  );
}

/** An error and its causes; none of what cannot be looked at. */
function causesOf(error: unknown): Error[] {
  const links: Error[] = [];
  try {
    for (let link = error; link instanceof Error && links.length < maxCauses; link = link.cause) links.push(link);
  } catch {
    // It may be anything, a proxy that was revoked included.
  }
  return links;
}

/** The reported activity of a runnable. An error in the report does not keep the others from being stopped. */
function workOf(runnable: Runnable): readonly string[] {
  try {
    return [...(runnable.inFlight ?? [])];
  } catch {
    return [];
  }
}

/** Turns a synchronous throw into a rejection, so that it is reported like any other failure. */
async function invoke(run: () => Promise<void>): Promise<void> {
  await run();
}
