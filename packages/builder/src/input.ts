import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind, metadataOnly } from '@kctl/apimachinery';
import type { EventHandler, EventObject, InformerProvider, Predicate, Source, WatchOptions } from '@kctl/controller';
import { informerSource, kindSource } from '@kctl/controller';
import { inputProblems, type GivenOptions, type InputMethod } from './input-options.js';
import { withEvents, type OwnEnds } from './own-ends.js';

/**
 * One watched kind of a definition, with its types erased: handler and predicates only ever see events of this kind, so
 * what the builder's signatures checked stays true.
 */
export interface Input<R> {
  readonly method: InputMethod;
  /** As the user wrote it, for messages. */
  readonly what: string;
  readonly kind: Kind;
  readonly handler: EventHandler<EventObject, R>;
  readonly predicates: readonly Predicate[];
  readonly watch: WatchOptions;
  /** What is wrong with its options. */
  readonly problems: readonly string[];
}

/** What is given about an input, still typed by its kind. */
export interface TypedInput<T, R> {
  readonly method: InputMethod;
  readonly kind: Kind;
  readonly handler: EventHandler<T, R>;
  readonly options: GivenOptions<T> | undefined;
  /** Whether metadata are watched alone. @default what the options say */
  readonly onlyMetadata?: boolean;
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
  };
}

/** Where the events of an input come from. */
export interface SourceParts {
  readonly informers: InformerProvider;
  /** Predicates of all inputs. */
  readonly filters: readonly Predicate[];
  readonly ownEnds: OwnEnds | undefined;
}

/**
 * The source of an input. One of owned objects also reports those that this process made and that were gone before its
 * informer had them: a child that nothing else reports as missing.
 */
export function sourceOf<R>(input: Input<R>, { informers, filters, ownEnds }: SourceParts): Source<R> {
  const { kind, handler, method } = input;
  const predicates = [...filters, ...input.predicates];
  const source = kindSource({ informers, kind, handler, predicates });
  if (method !== 'owns' || ownEnds === undefined) return source;
  const informer = ownEnds.vanished(kind);
  return withEvents(source, informerSource({ informer, handler, predicates, name: source.name }));
}

/** Whether a value is a kind token: what was imported under a wrong name is undefined at run time. */
export function isKind(kind: unknown): kind is Kind {
  return typeof kind === 'object' && kind !== null && 'kind' in kind && 'group' in kind && 'plural' in kind;
}

/** For messages. */
export function describeKind(kind: unknown): string {
  return isKind(kind) ? formatGroupKind(kind) : String(kind);
}
