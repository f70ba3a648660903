import type { Kind } from '@kctl/apimachinery';
import { applyIfChanged } from '@kctl/client';
import type { ApplyConfiguration, ApplyMemo, FieldDifference, ReadObject } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { Superseded } from './run-context.js';

/** Comparison of an object with its configuration, by the fields that the owner holds. */
export interface Comparison {
  readonly matches: boolean;
  readonly differences: readonly FieldDifference[];
}

/** Has {@link applyIfChanged} compare without a request. */
const never: ApplyMemo = { isNoop: () => true, noteNoop: () => undefined };
const unused = {
  get: () => Promise.reject(new Superseded('not called')),
  patch: () => Promise.reject(new Superseded('not called')),
};

/** Compares without a request. */
export async function compare(
  kind: Kind,
  configuration: ApplyConfiguration<Kind>,
  actual: AnyObject,
  fieldOwner: string,
): Promise<Comparison> {
  const { reason, differences } = await applyIfChanged(unused, kind, configuration, {
    fieldOwner,
    actual: asRead(actual),
    memo: never,
  });
  return { matches: reason === 'matches', differences };
}

/** An object that was read has a name, a uid and a version. */
export function asRead(object: AnyObject): ReadObject<Kind> {
  return object as ReadObject<Kind>;
}
