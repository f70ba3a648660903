import type { Kind } from '@kctl/apimachinery';
import type { Scope } from '../scope.js';
import {
  HandlerHistory,
  type HistoryContext,
  type Registration,
  type WitnessedCache,
  type WitnessedHandler,
  type WitnessedInformer,
} from './handler-history.js';

/** Handlers of the world, which note what they are given themselves. */
export const witnesses: WeakSet<WitnessedHandler> = new WeakSet();

/** Context that {@link OwnHandlers} compares with, and reports to. */
export type OwnHandlersOptions = Pick<HistoryContext, 'objects' | 'violate'>;

/**
 * The handlers that an operator itself adds to informers of its cache, both those of its controllers and its own. Each
 * call goes to the handler as before, and is recorded on its way.
 */
export class OwnHandlers {
  readonly #scope: Scope;
  readonly #options: OwnHandlersOptions;
  readonly #watched = new WeakSet<WitnessedInformer>();
  readonly #histories = new Set<HandlerHistory>();

  constructor(scope: Scope, cache: WitnessedCache, options: OwnHandlersOptions) {
    this.#scope = scope;
    this.#options = options;
    this.#watchLoans(cache);
  }

  /** Whether one of them has not ended what it does with an event. */
  get isBusy(): boolean {
    return [...this.#histories].some((history) => history.isBusy);
  }

  /** Whether each was given what the server has. */
  compare(cache: WitnessedCache): void {
    for (const history of this.#histories) history.compare(cache);
  }

  /** Whatever hands out an informer hands out one that is watched. */
  #watchLoans(cache: WitnessedCache): void {
    const { acquire, informerFor } = cache;
    replace(cache, 'acquire', (kind: Kind) => {
      const loan = acquire.call(cache, kind);
      this.#watch(kind, loan.informer);
      return loan;
    });
    if (informerFor === undefined) return;
    replace(cache, 'informerFor', (kind: Kind) => {
      const informer = informerFor.call(cache, kind);
      this.#watch(kind, informer);
      return informer;
    });
  }

  #watch(kind: Kind, informer: WitnessedInformer): void {
    if (this.#watched.has(informer)) return;
    this.#watched.add(informer);
    const { addEventHandler } = informer;
    replace(informer, 'addEventHandler', (handler: WitnessedHandler, options?: object): Registration => {
      if (witnesses.has(handler)) return addEventHandler.call(informer, handler, options);
      const history = new HandlerHistory({
        ...this.#options,
        scope: this.#scope,
        kind,
        handler: "one of the operator's own handlers",
      });
      const registration = addEventHandler.call(informer, noting(handler, history), options);
      history.registration = registration;
      this.#histories.add(history);
      const { remove } = registration;
      replace(registration, 'remove', () => {
        history.left();
        this.#histories.delete(history);
        return remove.call(registration);
      });
      return registration;
    });
  }
}

function noting(handler: WitnessedHandler, history: HandlerHistory): WitnessedHandler {
  const { onEvent, onAdd, onUpdate, onDelete } = handler;
  const passed: WitnessedHandler = {
    onEvent: (event) => {
      history.began(event);
      const outcome = onEvent === undefined ? undefined : onEvent.call(handler, event);
      if (!(outcome instanceof Promise)) {
        history.ended();
        return outcome;
      }
      return outcome.finally(() => history.ended());
    },
  };
  if (onAdd !== undefined) passed.onAdd = (...given) => onAdd.apply(handler, given);
  if (onUpdate !== undefined) passed.onUpdate = (...given) => onUpdate.apply(handler, given);
  if (onDelete !== undefined) passed.onDelete = (...given) => onDelete.apply(handler, given);
  return passed;
}

function replace(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}
