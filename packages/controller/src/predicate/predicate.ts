import { isThenable } from '@kctl/options';
import type {
  CreateEvent,
  DeleteEvent,
  EventObject,
  GenericEvent,
  ObjectEvent,
  UpdateEvent,
} from '../event/object-event.js';
import { functionOption, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { requireFunction, requirePredicates } from '../event/required.js';
import { isGenerational, markGenerational } from './generation.js';

/**
 * Decides whether an event reaches its handler. Synchronous and pure; it runs on the path of every event, so it should
 * read metadata only (`spec` and `status` may have to be decoded first). Mirrors `predicate.Predicate`: one function
 * over the event union instead of four methods.
 */
export type Predicate<T = EventObject> = (event: ObjectEvent<T>) => boolean;

/**
 * Calls a predicate.
 *
 * @throws TypeError when it answers with a promise, which would count as true; what the promise rejects with is dropped
 */
export function askPredicate<T>(predicate: Predicate<T>, event: ObjectEvent<T>): boolean {
  const answer: unknown = predicate(event);
  if (!isThenable(answer)) return Boolean(answer);
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(
    'the predicate returned a promise: predicates are synchronous; put what has to be awaited into the handler or the reconciler',
  );
}

/** Members of {@link predicateFuncs}; a missing one lets every such event pass. */
export interface PredicateFuncs<T = EventObject> {
  readonly create?: (event: CreateEvent<T>) => boolean;
  readonly update?: (event: UpdateEvent<T>) => boolean;
  readonly delete?: (event: DeleteEvent<T>) => boolean;
  readonly generic?: (event: GenericEvent<T>) => boolean;
}

const funcNames: OptionNames<PredicateFuncs> = {
  create: functionOption,
  update: functionOption,
  delete: functionOption,
  generic: functionOption,
};

/**
 * A predicate by event type. Mirrors `predicate.Funcs`.
 *
 * @throws TypeError for a member that is not known, whose events would all pass, or not a function
 */
export function predicateFuncs<T = EventObject>(funcs: PredicateFuncs<T>): Predicate<T> {
  requireOptions('predicateFuncs', funcs, funcNames);
  return (event) => {
    switch (event.type) {
      case 'create':
        return funcs.create === undefined || funcs.create(event);
      case 'update':
        return funcs.update === undefined || funcs.update(event);
      case 'delete':
        return funcs.delete === undefined || funcs.delete(event);
      case 'generic':
        return funcs.generic === undefined || funcs.generic(event);
    }
  };
}

/** A predicate on the object, for updates on the new one. Mirrors `predicate.NewPredicateFuncs`. */
export function objectPredicate<T = EventObject>(filter: (object: T) => boolean): Predicate<T> {
  requireFunction('objectPredicate', 'filter', filter);
  return (event) => filter(event.object);
}

/** Passes events that every predicate passes; calls them in order and stops at the first refusal. */
export function and<T = EventObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  requirePredicates('and', predicates);
  const all = (event: ObjectEvent<T>): boolean => predicates.every((predicate) => askPredicate(predicate, event));
  return predicates.some(isGenerational) ? markGenerational(all) : all;
}

/** Passes events that any predicate passes; calls them in order and stops at the first that agrees. */
export function or<T = EventObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  requirePredicates('or', predicates);
  const any = (event: ObjectEvent<T>): boolean => predicates.some((predicate) => askPredicate(predicate, event));
  return predicates.length > 0 && predicates.every(isGenerational) ? markGenerational(any) : any;
}

/** Passes what the predicate refuses. */
export function not<T = EventObject>(predicate: Predicate<T>): Predicate<T> {
  requireFunction('not', 'predicate', predicate);
  return (event) => !askPredicate(predicate, event);
}
