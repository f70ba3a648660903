import type { KubeObject } from '@kctl/apimachinery';
import type { EventHandlerOptions, HandlerRegistration, InformerEventHandler, SharedInformer } from '@kctl/informer';

/** What a registration needs of the informer that it is in. */
export interface RegistrationHost<T extends KubeObject> {
  /** Whether what happens to the informer of a scope is of interest: not when the scope has left. */
  concerns(informer: SharedInformer<T>): boolean;
  removed(): void;
}

/** One handler's places in the informers of all scopes of a kind, those that are added later included. */
export class ScopedRegistration<T extends KubeObject> implements HandlerRegistration {
  readonly #handler: InformerEventHandler<T>;
  readonly #options: EventHandlerOptions;
  readonly #host: RegistrationHost<T>;
  readonly #places = new Map<SharedInformer<T>, HandlerRegistration>();
  #hasSynced = false;
  /** How often a place was added. */
  #joins = 0;

  constructor(handler: InformerEventHandler<T>, options: EventHandlerOptions, host: RegistrationHost<T>) {
    this.#handler = handler;
    this.#options = options;
    this.#host = host;
  }

  /** Stays true: a scope that is added later has its own initial list, flagged as such. */
  get hasSynced(): boolean {
    this.#hasSynced ||= this.#all().every((place) => place.hasSynced);
    return this.#hasSynced;
  }

  get pending(): number {
    return this.#all().reduce((sum, place) => sum + place.pending, 0);
  }

  /** The handler hears of nothing in this informer before all of `before` has settled. */
  join(informer: SharedInformer<T>, before: readonly Promise<unknown>[] = []): void {
    this.#joins++;
    const options =
      before.length === 0
        ? this.#options
        : { ...this.#options, after: Promise.allSettled([this.#options.after, ...before]) };
    this.#places.set(informer, informer.addEventHandler(this.#handler, options));
  }

  leave(informer: SharedInformer<T>): void {
    this.#places.delete(informer);
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
    await Promise.all(this.#all().map((place) => place.remove()));
  }

  #all(): HandlerRegistration[] {
    return [...this.#places.values()];
  }
}
