import type { UntypedObject } from '@kctl/apimachinery';
import { jsonText } from '@kctl/crd/engine';

/** A conversion that has not been made yet: what the ownership of fields waits for. */
export class MissingConversion extends Error {
  override readonly name = 'MissingConversion';
  readonly object: UntypedObject;
  readonly to: string;
  /** What is converted, as the error of a failed conversion begins; '' for the live object. */
  readonly what: string;

  constructor(object: UntypedObject, to: string, what: string) {
    super(`${object.apiVersion ?? ''} has not been converted to ${to} yet`);
    this.object = object;
    this.to = to;
    this.what = what;
  }
}

/** What a conversion webhook has made of objects, for one computation of owners. */
export interface ConvertedObjects {
  /** @throws MissingConversion for what is not known */
  get(object: UntypedObject, to: string, what: string): UntypedObject;
  add(missing: MissingConversion, converted: UntypedObject): void;
}

/** Conversions by the content of what was converted. */
export function createConvertedObjects(): ConvertedObjects {
  const known = new Map<string, UntypedObject>();
  const keyOf = (object: UntypedObject, to: string): string => `${to}\n${jsonText(object)}`;
  return {
    get(object, to, what) {
      const converted = known.get(keyOf(object, to));
      if (converted === undefined) throw new MissingConversion(object, to, what);
      return converted;
    },
    add({ object, to }, converted) {
      known.set(keyOf(object, to), converted);
    },
  };
}
