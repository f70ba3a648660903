import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Client } from '@kctl/client';
import type { ControllerHost, DeclaredChildren } from './controller-builder.js';
import type { Input, SourceParts } from './input.js';
import { ownEndsIn, ownEndsOf } from './own-ends.js';

/** Declared children with their types erased. */
export type AnyChildren = Pick<DeclaredChildren<never>, 'labelSelector' | 'readThrough'>;

/** Where the events of an input come from. */
type Origin = Omit<SourceParts, 'filters'>;

/**
 * Has the kinds of declared children held by their label, so that an operator which makes Secrets does not hold those of
 * others. A kind is held whole if another input, a ref or the cache needs its other objects.
 *
 * @returns where the events of an input come from
 */
export function selectChildren<R>(
  host: ControllerHost,
  given: { readonly name: string; readonly inputs: readonly Input<R>[]; readonly children: readonly AnyChildren[] },
): (input: Input<R>) => Origin {
  const { inputs, children } = given;
  const whole: Origin = { informers: host.cache, ownEnds: ownEndsOf(host.dependencies) };
  const isWhole = new Set(inputs.filter((input) => !input.isOfChildren).map(({ kind }) => formatGroupKind(kind)));
  const kinds = [
    ...new Map(inputs.filter(({ isOfChildren }) => isOfChildren).map((input) => [formatGroupKind(input.kind), input])),
  ]
    .filter(([name, { kind }]) => !isWhole.has(name) && host.cache.isCached?.(kind) !== true)
    .map(([, input]) => input);
  const [labelSelector] = children.flatMap((each) => each.labelSelector ?? []);
  if (kinds.length === 0 || labelSelector === undefined || host.select === undefined) return () => whole;
  const isOptional = ({ watch }: Input<R>): boolean => watch.startPolicy === 'optional';
  const { informers, client } = host.select({
    name: `children of ${given.name}`,
    kinds: kinds.filter((input) => !isOptional(input)).map(({ kind }) => kind),
    optionalKinds: kinds.filter(isOptional).map(({ kind }) => kind),
    labelSelector,
  });
  const own: unknown = Reflect.get(host.dependencies, 'client');
  if (isClient(own)) for (const each of children) each.readThrough?.(own, client);
  const selected: Origin = { informers, ownEnds: [...whole.ownEnds, ...ownEndsIn(client)] };
  const names = new Set(kinds.map(({ kind }) => formatGroupKind(kind)));
  return (input) => (input.isOfChildren && names.has(formatGroupKind(input.kind)) ? selected : whole);
}

function isClient(value: unknown): value is Client {
  return typeof value === 'object' && value !== null && 'get' in value && 'patch' in value;
}
