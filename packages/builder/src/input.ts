import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind, metadataOnly } from '@kctl/apimachinery';
import type { EventHandler, EventObject, InformerProvider, Predicate, Source, WatchOptions } from '@kctl/controller';
import { kindSource } from '@kctl/controller';
import { inputProblems, type GivenOptions, type InputMethod } from './input-options.js';

/**
 * One watched kind of a definition, with its types erased: handler and predicates only ever see events of this kind, so
 * what the builder's signatures checked stays true.
 */
export interface Input<R> {
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
    what: `${method}(${describeKind(kind)})`,
    kind: onlyMetadata && isKind(kind) ? metadataOnly(kind) : kind,
    handler: handler as unknown as EventHandler<EventObject, R>,
    predicates: predicates as unknown as readonly Predicate[],
    watch: startPolicy === undefined ? {} : { startPolicy },
    problems: inputProblems(method, options),
  };
}

/** The source of an input. */
export function sourceOf<R>(input: Input<R>, informers: InformerProvider, filters: readonly Predicate[]): Source<R> {
  const { kind, handler, predicates } = input;
  return kindSource({ informers, kind, handler, predicates: [...filters, ...predicates] });
}

/** Whether a value is a kind token: what was imported under a wrong name is undefined at run time. */
export function isKind(kind: unknown): kind is Kind {
  return typeof kind === 'object' && kind !== null && 'kind' in kind && 'group' in kind && 'plural' in kind;
}

/** For messages. */
export function describeKind(kind: unknown): string {
  return isKind(kind) ? formatGroupKind(kind) : String(kind);
}
