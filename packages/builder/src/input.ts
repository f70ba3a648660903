import type { Kind } from '@kctl/apimachinery';
import { metadataOnly } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { EventHandler, EventObject, InformerProvider, Predicate, Source, WatchOptions } from '@kctl/controller';
import { informerSource, kindSource } from '@kctl/controller';
import { inputProblems, type GivenOptions, type InputMethod } from './input-options.js';
import { withEvents, type OwnEnds } from './own-ends.js';

/**
 * One watched kind of a definition, with its types erased. Handler and predicates only ever receive events of this
 * kind, so the checks of the builder's signatures stay valid.
 */
export interface Input<R> {
  readonly method: InputMethod;
  /** As the user wrote it, for messages. */
  readonly what: string;
  readonly kind: Kind;
  readonly handler: EventHandler<EventObject, R>;
  readonly predicates: readonly Predicate[];
  readonly watch: WatchOptions;
  /** Problems of its options. */
  readonly problems: readonly string[];
  /** Whether its objects are declared children, which a label tells from others. */
  readonly isOfChildren: boolean;
}

/** An input as given, still typed by its kind. */
export interface TypedInput<T, R> {
  readonly method: InputMethod;
  readonly kind: Kind;
  readonly handler: EventHandler<T, R>;
  readonly options: GivenOptions<T> | undefined;
  /** Whether metadata are watched alone. @default per the options */
  readonly onlyMetadata?: boolean;
  /** @default false */
  readonly isOfChildren?: boolean;
}

/** Erases the object type of an input. */
export function eraseInput<T, R>(input: TypedInput<T, R>): Input<R> {
  const { method, kind, handler, options } = input;
  const { onlyMetadata = options?.onlyMetadata === true } = input;
  const { predicates = [], startPolicy } = options ?? {};
  return {
    method,
    what: `${method}(${describeKind(kind)})`,
    kind: onlyMetadata && isKind(kind) ? metadataOnly(kind) : kind,
    handler: handler as unknown as EventHandler<EventObject, R>,
    predicates: predicates as unknown as readonly Predicate[],
    watch: startPolicy === undefined ? {} : { startPolicy },
    problems: inputProblems(method, options),
    isOfChildren: input.isOfChildren === true,
  };
}

/** Sources of the events of an input. */
export interface SourceParts {
  readonly informers: InformerProvider;
  /** Predicates of all inputs. */
  readonly filters: readonly Predicate[];
  readonly ownEnds: readonly OwnEnds[];
}

/**
 * The source of an input. A source of owned objects also reports those that this process created and that were deleted
 * before its informer received them, because nothing else reports such a child as missing.
 */
export function sourceOf<R>(input: Input<R>, { informers, filters, ownEnds }: SourceParts): Source<R> {
  const { kind, handler, method } = input;
  const predicates = [...filters, ...input.predicates];
  const source: Source<R> = kindSource({ informers, kind, handler, predicates });
  if (method !== 'owns') return source;
  return ownEnds.reduce((all, ends) => {
    const informer = ends.vanished(kind);
    return withEvents(all, informerSource({ informer, handler, predicates, name: source.name }));
  }, source);
}

/** Whether a value is a kind token. A kind that was imported under a wrong name is undefined at run time. */
export function isKind(kind: unknown): kind is Kind {
  return typeof kind === 'object' && kind !== null && 'kind' in kind && 'group' in kind && 'plural' in kind;
}

/** For messages. */
export function describeKind(kind: unknown): string {
  return isKind(kind) ? formatGroupKind(kind) : String(kind);
}
