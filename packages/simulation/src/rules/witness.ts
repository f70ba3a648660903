import { compareResourceVersions, type Kind, type KubeObject } from '@kctl/apimachinery';
import { activities } from '../activity.js';
import type { ReplicaHost } from '../replica-host.js';
import type { Scheduler } from '../scheduler.js';
import type { Scope } from '../scope.js';
import type { CausedCommit } from './rule.js';

/** What a handler is given; that of @kctl/informer is one. */
interface WitnessedEvent {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly header: { readonly resourceVersion: string; readonly uid: string };
  readonly leftScope: boolean;
}

interface Registration {
  readonly hasSynced: boolean;
  remove(): Promise<void>;
}

interface WitnessedInformer {
  addEventHandler(handler: { onEvent(event: WitnessedEvent): Promise<void> }): Registration;
}

interface WitnessedCache {
  informers(): readonly {
    readonly kind: Kind;
    readonly isWanted: boolean;
    readonly state: { readonly phase: string };
  }[];
  acquire(kind: Kind): AsyncDisposable & { readonly informer: WitnessedInformer };
  project(kind: Kind, object: KubeObject): unknown;
}

/** Options of {@link witness}. */
export interface WitnessOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly objects: ReadonlyMap<string, CausedCommit>;
  violate(message: string, object?: string): void;
}

/** A handler joins every so often, and leaves again, in ms. */
const turnMs = 120_000;
/** A handler takes this long for an event at most, in ms. */
const longestCallMs = 20;
/** A handler that joined an informer of a replica, and what it was given. */
class Witness {
  readonly kind: Kind;
  readonly #scope: Scope;
  readonly #options: WitnessOptions;
  readonly #known = new Map<string, { readonly resourceVersion: string; readonly uid: string }>();
  #isBusy = false;
  #hasLeft = false;
  registration: Registration | undefined;

  constructor(kind: Kind, scope: Scope, options: WitnessOptions) {
    this.kind = kind;
    this.#scope = scope;
    this.#options = options;
  }

  async onEvent({ type, key, header, leftScope }: WitnessedEvent): Promise<void> {
    const { scheduler, random } = this.#options;
    const before = this.#known.get(key);
    if (this.#hasLeft) this.#broken(key, `gets a ${type} after it was removed: a removed handler is called no more`);
    if (this.#isBusy) this.#broken(key, `gets a ${type} while its last callback runs: one event at a time`);
    if (type === 'add' && before !== undefined) this.#broken(key, 'gets an add of what it was given already');
    if (type !== 'add' && before === undefined)
      this.#broken(key, `gets ${type === 'update' ? 'an update' : 'a delete'} of what it was never given`);
    if (type === 'update' && before !== undefined && before.uid === header.uid)
      if (compareResourceVersions(header.resourceVersion, before.resourceVersion) === 'older')
        this.#broken(key, `gets version ${header.resourceVersion} after ${before.resourceVersion}`);
    if (type === 'delete' && !leftScope && this.#isUntouched(key, header.uid, header.resourceVersion))
      this.#broken(key, 'gets a delete of what was never deleted');
    if (type === 'delete') this.#known.delete(key);
    else this.#known.set(key, { resourceVersion: header.resourceVersion, uid: header.uid });
    if (random() < 0.5) return;
    this.#isBusy = true;
    await new Promise<void>((resolve) => {
      scheduler.after(this.#scope, random() * longestCallMs, resolve);
    });
    this.#isBusy = false;
  }

  /** What it was given is what the server has. */
  compare(cache: WitnessedCache): void {
    if (this.registration?.hasSynced !== true) return;
    const table = `${this.kind.group}/${this.kind.plural}`;
    for (const { resource, object, label } of this.#options.objects.values()) {
      if (resource !== table || cache.project(this.kind, object) === undefined) continue;
      const key = label.slice(label.indexOf(' ') + 1);
      const last = this.#known.get(key)?.resourceVersion;
      if (last !== object.metadata.resourceVersion)
        this.#broken(
          key,
          `was ${last === undefined ? 'never given it' : `last given version ${last}`} when nothing moves, and the server has it at ${object.metadata.resourceVersion ?? ''}`,
        );
    }
    for (const key of this.#known.keys())
      if (!this.#options.objects.has(`${this.kind.plural} ${key}`)) this.#broken(key, 'was never given its delete');
  }

  leave(): void {
    this.#hasLeft = true;
    void this.registration?.remove().catch(() => undefined);
  }

  /** Whether the server has that very version: then no delete of it can have happened. */
  #isUntouched(key: string, uid: string, resourceVersion: string): boolean {
    const found = this.#options.objects.get(`${this.kind.plural} ${key}`);
    const { metadata } = found?.object ?? {};
    return metadata?.uid === uid && metadata.resourceVersion === resourceVersion;
  }

  #broken(key: string, what: string): void {
    if (this.#scope.isDead) return;
    this.#options.violate(`${this.#scope.name}: a handler of ${this.kind.kind} ${what}`, `${this.kind.plural} ${key}`);
  }
}

/** Handlers that join and leave the informers of one process at any moment, and the rule about what they are given. */
export class Witnesses {
  readonly #host: ReplicaHost;
  readonly #scope: Scope;
  readonly #cache: WitnessedCache;
  readonly #options: WitnessOptions;
  readonly #present: Witness[] = [];
  #isOver = false;

  constructor(host: ReplicaHost, scope: Scope, cache: WitnessedCache, options: WitnessOptions) {
    this.#host = host;
    this.#scope = scope;
    this.#cache = cache;
    this.#options = options;
    this.#later();
  }

  /** Whether those that are there were given what the server has. */
  compare(): void {
    for (const witness of this.#present) witness.compare(this.#cache);
  }

  /** No handler joins from here on, and those that are there leave. */
  end(): void {
    this.#isOver = true;
    for (const witness of this.#present.splice(0)) witness.leave();
  }

  #later(): void {
    const { scheduler, random } = this.#options;
    scheduler.after(this.#scope, random() * random() * turnMs, () => {
      if (this.#isOver || this.#host.isStopping) return;
      activities.run({ scope: this.#scope }, () => this.#turn());
      this.#later();
    });
  }

  #turn(): void {
    const { random } = this.#options;
    const [leaving] = this.#present.length > 2 || random() < 0.3 ? this.#present.splice(0, 1) : [];
    if (leaving !== undefined) {
      leaving.leave();
      return;
    }
    const wanted = this.#cache.informers().filter(({ isWanted, state }) => isWanted && state.phase !== 'stopped');
    const chosen = wanted[Math.floor(random() * wanted.length)];
    if (chosen === undefined || (chosen.kind.shape !== 'full' && chosen.kind.shape !== 'untyped')) return;
    const witness = new Witness(chosen.kind, this.#scope, this.#options);
    const loan = this.#cache.acquire(chosen.kind);
    this.#present.push(witness);
    witness.registration = loan.informer.addEventHandler({ onEvent: (event) => witness.onEvent(event) });
    void loan[Symbol.asyncDispose]();
  }
}

/** Whether a cache can be witnessed. */
export function isWitnessable(cache: unknown): cache is WitnessedCache {
  return (
    typeof cache === 'object' &&
    cache !== null &&
    ['informers', 'acquire', 'project'].every((name) => typeof Reflect.get(cache, name) === 'function')
  );
}
