import { compareResourceVersions, type Kind, type KubeObject } from '@kctl/apimachinery';
import type { Scope } from '../scope.js';
import { objectLabel } from '../object-label.js';
import type { CausedCommit } from '../caused-commit.js';

/** Event for a handler; that of @kctl/informer is one. */
export interface WitnessedEvent {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: string;
  readonly header: { readonly resourceVersion: string; readonly uid: string };
  readonly leftScope: boolean;
}

/** A handler's place at an informer. */
export interface Registration {
  readonly hasSynced: boolean;
  readonly remove: () => Promise<void>;
}

/** A cache whose informers can be witnessed; that of @kctl/cache is one. */
export interface WitnessedCache {
  informers(): readonly {
    readonly kind: Kind;
    readonly isWanted: boolean;
    readonly state: { readonly phase: string };
  }[];
  readonly acquire: (kind: Kind) => AsyncDisposable & { readonly informer: WitnessedInformer };
  readonly informerFor?: (kind: Kind) => WitnessedInformer;
  project(kind: Kind, object: KubeObject): unknown;
}

/** An informer of such a cache. */
export interface WitnessedInformer {
  readonly addEventHandler: (handler: WitnessedHandler, options?: object) => Registration;
}

/** Callbacks, of which a handler has at least one. */
export interface WitnessedHandler {
  onEvent?: (event: WitnessedEvent) => void | Promise<void>;
  onAdd?: (...given: unknown[]) => void | Promise<void>;
  onUpdate?: (...given: unknown[]) => void | Promise<void>;
  onDelete?: (...given: unknown[]) => void | Promise<void>;
}

/** Context that a {@link HandlerHistory} compares with, and reports to. */
export interface HistoryContext {
  readonly scope: Scope;
  readonly kind: Kind;
  /** Which handler it is, for people. */
  readonly handler: string;
  readonly objects: ReadonlyMap<string, CausedCommit>;
  readonly violate: (message: string, object?: string) => void;
}

/** Events of one handler of an informer, and whether that is a legal history. */
export class HandlerHistory {
  readonly #context: HistoryContext;
  readonly #known = new Map<string, { readonly resourceVersion: string; readonly uid: string }>();
  #isBusy = false;
  #hasLeft = false;
  registration: Registration | undefined;

  constructor(context: HistoryContext) {
    this.#context = context;
  }

  /** A callback begins. Its end is to be noted by {@link ended}. */
  began({ type, key, header, leftScope }: WitnessedEvent): void {
    const before = this.#known.get(key);
    if (this.#hasLeft) this.#broken(key, `gets a ${type} after it was removed: a removed handler is called no more`);
    if (this.#isBusy) this.#broken(key, `gets a ${type} while its last callback runs: one event at a time`);
    if (type === 'add' && before !== undefined) this.#broken(key, 'gets an add of what it was given already');
    if (type !== 'add' && before === undefined)
      this.#broken(key, `gets ${type === 'update' ? 'an update' : 'a delete'} of what it was never given`);
    if (type === 'update' && before !== undefined && before.uid === header.uid)
      if (compareResourceVersions(header.resourceVersion, before.resourceVersion) === 'older')
        this.#broken(key, `gets version ${header.resourceVersion} after ${before.resourceVersion}`);
    if (type === 'update' && before !== undefined && before.uid !== header.uid)
      this.#broken(key, 'gets an update to another object of the same name: its delete and an add are lacking');
    if (type === 'delete' && !leftScope && this.#isUntouched(key, header.uid, header.resourceVersion))
      this.#broken(key, 'gets a delete of what was never deleted');
    if (type === 'delete') this.#known.delete(key);
    else this.#known.set(key, { resourceVersion: header.resourceVersion, uid: header.uid });
    this.#isBusy = true;
  }

  /** The callback that began last has ended. */
  ended(): void {
    this.#isBusy = false;
  }

  /** Whether a callback is running, for whose end later events wait. */
  get isBusy(): boolean {
    return this.#isBusy && !this.#hasLeft;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** The handler has left, so it must receive no further events. */
  left(): void {
    this.#hasLeft = true;
  }

  /** Checks that the handled events match the server. */
  compare(cache: WitnessedCache): void {
    if (this.#hasLeft || this.registration?.hasSynced !== true) return;
    const { kind, objects } = this.#context;
    const table = `${kind.group}/${kind.plural}`;
    for (const { resource, object, label } of objects.values()) {
      if (resource !== table || cache.project(kind, object) === undefined) continue;
      const key = label.slice(label.indexOf(' ') + 1);
      const last = this.#known.get(key)?.resourceVersion;
      if (last !== object.metadata.resourceVersion)
        this.#broken(
          key,
          `was ${last === undefined ? 'never given it' : `last given version ${last}`} when nothing moves, and the server has it at ${object.metadata.resourceVersion ?? ''}`,
        );
    }
    for (const key of this.#known.keys())
      if (!objects.has(objectLabel(kind, key))) this.#broken(key, 'was never given its delete');
  }

  /** Whether the server has exactly that version, so no delete of it can have happened. */
  #isUntouched(key: string, uid: string, resourceVersion: string): boolean {
    const found = this.#context.objects.get(objectLabel(this.#context.kind, key));
    const { metadata } = found?.object ?? {};
    return metadata?.uid === uid && metadata.resourceVersion === resourceVersion;
  }

  #broken(key: string, what: string): void {
    const { scope, kind, handler, violate } = this.#context;
    if (scope.isDead) return;
    violate(`${scope.name}: ${handler} of ${kind.kind} ${what}`, objectLabel(kind, key));
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
