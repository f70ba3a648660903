import type { KubeObject } from '@kctl/apimachinery';
import type { EventHandlerOptions, HandlerRegistration, InformerEventHandler, SharedInformer } from '@kctl/informer';

/** One handler's places in the informers of all scopes of a kind, those that are added later included. */
export class ScopedRegistration<T extends KubeObject> implements HandlerRegistration {
  readonly #handler: InformerEventHandler<T>;
  readonly #options: EventHandlerOptions;
  readonly #onRemove: (registration: ScopedRegistration<T>) => void;
  readonly #places = new Map<SharedInformer<T>, HandlerRegistration>();
  #hasSynced = false;

  constructor(
    handler: InformerEventHandler<T>,
    options: EventHandlerOptions,
    onRemove: (registration: ScopedRegistration<T>) => void,
  ) {
    this.#handler = handler;
    this.#options = options;
    this.#onRemove = onRemove;
  }

  /** Stays true: a scope that is added later has its own initial list, flagged as such. */
  get hasSynced(): boolean {
    this.#hasSynced ||= this.#all().every((place) => place.hasSynced);
    return this.#hasSynced;
  }

  get pending(): number {
    return this.#all().reduce((sum, place) => sum + place.pending, 0);
  }

  join(informer: SharedInformer<T>): void {
    this.#places.set(informer, informer.addEventHandler(this.#handler, this.#options));
  }

  leave(informer: SharedInformer<T>): void {
    this.#places.delete(informer);
  }

  async waitForSync(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await Promise.all(this.#all().map((place) => place.waitForSync(options)));
    this.#hasSynced = true;
  }

  async remove(): Promise<void> {
    this.#onRemove(this);
    await Promise.all(this.#all().map((place) => place.remove()));
  }

  #all(): HandlerRegistration[] {
    return [...this.#places.values()];
  }
}
