import type { Kind } from '@kctl/apimachinery';
import type { ReplicaHost } from '../replica/replica-host.js';
import { cancel, type Scheduler } from '../scheduler.js';
import type { Scope } from '../scope.js';
import { HandlerHistory, type WitnessedCache, type WitnessedEvent, type WitnessedHandler } from './handler-history.js';
import { witnesses } from './own-handlers.js';
import type { CausedCommit } from '../caused-commit.js';

/** Options of {@link Witnesses}. */
export interface WitnessOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly objects: ReadonlyMap<string, CausedCommit>;
  readonly violate: (message: string, object?: string) => void;
}

/** A handler joins every so often, and leaves again, in ms. */
const turnMs = 120_000;
/** A handler takes this long for an event at most, in ms; now and then much longer, so that events wait for it. */
const longestCallMs = 20;
const slowCallMs = 12_000;
/** How many of its events a handler takes long for, and during how many of those it leaves. */
const slowShare = 0.05;
const leavingShare = 0.2;
/** During how many events, in the middle of their delivery, another handler joins. */
const joiningShare = 0.1;
/** How many handlers of the world are there at a time. */
const mostPresent = 3;

/** State that a handler of the world shares with the others of its process. */
interface Party {
  /** Functions that end each slow callback. */
  readonly calls: Set<() => void>;
  /** Another handler joins the informer of a kind. */
  readonly join: (kind: Kind) => void;
}

/** A handler that joined an informer of a replica and is slow for some events. */
class Witness {
  readonly history: HandlerHistory;
  readonly #kind: Kind;
  readonly #scope: Scope;
  readonly #options: WitnessOptions;
  readonly #party: Party;

  constructor(kind: Kind, scope: Scope, options: WitnessOptions, party: Party) {
    this.#kind = kind;
    this.#scope = scope;
    this.#options = options;
    this.#party = party;
    const { objects, violate } = options;
    this.history = new HandlerHistory({ scope, kind, handler: 'a handler', objects, violate });
  }

  async onEvent(event: WitnessedEvent): Promise<void> {
    const { scheduler, random } = this.#options;
    this.history.began(event);
    if (random() < joiningShare) this.#party.join(this.#kind);
    const chance = random();
    const isSlow = chance < slowShare;
    if (chance < 0.5) {
      const takesMs = random() * (isSlow ? slowCallMs : longestCallMs);
      if (isSlow && random() < leavingShare) scheduler.after(this.#scope, takesMs * random(), () => this.leave());
      await this.#wait(takesMs);
    }
    this.history.ended();
  }

  /** Not beyond a stop, which does not wait for handlers of the world. */
  #wait(ms: number): Promise<void> {
    const { scheduler } = this.#options;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const done = (): void => resolve(undefined);
    const timer = scheduler.after(this.#scope, ms, done);
    const end = (): void => {
      cancel(timer);
      scheduler.post(this.#scope, done);
    };
    this.#party.calls.add(end);
    return promise.then(() => void this.#party.calls.delete(end));
  }

  leave(): void {
    if (this.history.hasLeft) return;
    this.history.left();
    void this.history.registration?.remove().catch(() => undefined);
  }
}

/** Handlers that join and leave the informers of one process at any moment, and the rule about what they are given. */
export class Witnesses {
  readonly #host: ReplicaHost;
  readonly #scope: Scope;
  readonly #cache: WitnessedCache;
  readonly #options: WitnessOptions;
  readonly #present: Witness[] = [];
  readonly #calls = new Set<() => void>();
  #isOver = false;

  constructor(host: ReplicaHost, scope: Scope, cache: WitnessedCache, options: WitnessOptions) {
    this.#host = host;
    this.#scope = scope;
    this.#cache = cache;
    this.#options = options;
    this.#later();
  }

  /** Whether one of those that are there takes its time for an event. */
  get isBusy(): boolean {
    return this.#present.some(({ history }) => history.isBusy);
  }

  /** Whether those that are there were given what the server has. */
  compare(): void {
    for (const witness of this.#present) witness.history.compare(this.#cache);
  }

  /** No handler joins from here on, and those that are there leave. */
  end(): void {
    this.#isOver = true;
    for (const witness of this.#present.splice(0)) witness.leave();
    for (const end of this.#calls) end();
  }

  #later(): void {
    const { scheduler, random } = this.#options;
    scheduler.after(this.#scope, random() * random() * turnMs, () => {
      if (this.#isOver || this.#host.isStopping) return;
      this.#scope.enter(() => this.#turn());
      this.#later();
    });
  }

  #turn(): void {
    const { random } = this.#options;
    for (let index = this.#present.length - 1; index >= 0; index--)
      if (this.#present[index]?.history.hasLeft === true) this.#present.splice(index, 1);
    const [leaving] = this.#present.length >= mostPresent || random() < 0.3 ? this.#present.splice(0, 1) : [];
    if (leaving !== undefined) {
      leaving.leave();
      return;
    }
    const wanted = this.#cache.informers().filter(({ isWanted, state }) => isWanted && state.phase !== 'stopped');
    const chosen = wanted[Math.floor(random() * wanted.length)];
    if (chosen === undefined || (chosen.kind.shape !== 'full' && chosen.kind.shape !== 'untyped')) return;
    this.#join(chosen.kind);
  }

  #join(kind: Kind): void {
    if (this.#isOver || this.#host.isStopping || this.#present.length > mostPresent) return;
    const party = { calls: this.#calls, join: (joined: Kind) => this.#join(joined) };
    const witness = new Witness(kind, this.#scope, this.#options, party);
    const loan = this.#cache.acquire(kind);
    this.#present.push(witness);
    const handler: WitnessedHandler = { onEvent: (event) => witness.onEvent(event) };
    witnesses.add(handler);
    witness.history.registration = loan.informer.addEventHandler(handler);
    void loan[Symbol.asyncDispose]();
  }
}
