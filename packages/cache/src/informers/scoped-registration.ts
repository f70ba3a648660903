import type { KubeObject } from '@kctl/apimachinery';
import { Turn } from '@kctl/delivery';
import type { EventHandlerOptions, HandlerRegistration, InformerEventHandler, SharedInformer } from '@kctl/informer';

/** The parts of its informer that a registration needs. */
export interface RegistrationHost<T extends KubeObject> {
  /** Whether events of the informer of a scope are of interest. They are not if the scope has left. */
  concerns(informer: SharedInformer<T>): boolean;
  removed(): void;
}

/**
 * One handler's places in the informers of all scopes of a kind, those that are added later included. The places share a
 * turn, so that the handler is called for one object at a time.
 */
export class ScopedRegistration<T extends KubeObject> implements HandlerRegistration {
  readonly #handler: InformerEventHandler<T>;
  readonly #options: EventHandlerOptions<T>;
  readonly #host: RegistrationHost<T>;
  readonly #places = new Map<SharedInformer<T>, HandlerRegistration>();
  /** Those that had not synced at the last check. */
  readonly #unsynced = new Set<HandlerRegistration>();
  readonly #turn: Turn;
  readonly #ended = Promise.withResolvers<undefined>();
  /** How many places have not ended. */
  #open = 0;
  #isEnding = false;
  #hasSynced = false;
  /** How often a place was added. */
  #joins = 0;

  constructor(handler: InformerEventHandler<T>, options: EventHandlerOptions<T>, host: RegistrationHost<T>) {
    this.#handler = handler;
    this.#options = options;
    this.#turn = options.turn ?? new Turn();
    this.#host = host;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Stays true. A scope that is added later has its own initial list, flagged as such. */
  get hasSynced(): boolean {
    if (this.#hasSynced) return true;
    for (const place of this.#unsynced) {
      if (!place.hasSynced) return false;
      this.#unsynced.delete(place);
    }
    return (this.#hasSynced = true);
  }

  get pending(): number {
    return this.#all().reduce((sum, place) => sum + place.pending, 0);
  }

  /** `leaving`: informers of which the handler is to receive the last delete before the first event of this one. */
  join(informer: SharedInformer<T>, leaving: Iterable<SharedInformer<T>> = []): void {
    this.#joins++;
    const before: Promise<unknown>[] = [];
    for (const other of leaving) {
      const place = this.#places.get(other);
      if (place !== undefined) before.push(place.ended);
    }
    const { after } = this.#options;
    const place = informer.addEventHandler(this.#handler, {
      ...this.#options,
      turn: this.#turn,
      ...(before.length === 0 ? {} : { after: Promise.allSettled([after, ...before]) }),
    });
    this.#places.set(informer, place);
    this.#unsynced.add(place);
    this.#open++;
    void place.ended.then(() => this.#left(informer));
    // Stays true from the moment it becomes true, even if it is not read then.
    place.waitForSync().then(
      () => (this.#hasSynced = this.hasSynced),
      () => undefined,
    );
  }

  /** The handler is removed, or the informer ends; no place will be added. */
  end(): void {
    this.#isEnding = true;
    if (this.#open === 0) this.#ended.resolve(undefined);
  }

  async waitForSync(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    for (let joins = -1; joins !== this.#joins; ) {
      joins = this.#joins;
      await Promise.all(
        [...this.#places].map(([informer, place]) =>
          place.waitForSync(options).catch((error: unknown) => {
            if (this.#host.concerns(informer)) throw error;
          }),
        ),
      );
    }
    this.#hasSynced = true;
  }

  async remove(): Promise<void> {
    this.#host.removed();
    this.end();
    await Promise.all(this.#all().map((place) => place.remove()));
  }

  #left(informer: SharedInformer<T>): void {
    this.#open--;
    if (!this.#host.concerns(informer)) this.#forget(informer);
    if (this.#isEnding) this.end();
  }

  #forget(informer: SharedInformer<T>): void {
    const place = this.#places.get(informer);
    this.#places.delete(informer);
    if (place !== undefined) this.#unsynced.delete(place);
  }

  #all(): HandlerRegistration[] {
    return [...this.#places.values()];
  }
}
