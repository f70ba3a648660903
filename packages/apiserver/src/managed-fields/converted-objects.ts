import { jsonText, stringOf, type JsonObject } from '@kctl/crd/internal/engine';

/** A missing conversion that the ownership of fields waits for. */
export class MissingConversion extends Error {
  override readonly name = 'MissingConversion';
  readonly object: JsonObject;
  readonly to: string;
  /**
   * Description of the converted object, at the beginning of the error of a failed conversion; '' for the live object.
   */
  readonly what: string;

  constructor(object: JsonObject, to: string, what: string) {
    super(`${stringOf(object['apiVersion'])} has not been converted to ${to} yet`);
    this.object = object;
    this.to = to;
    this.what = what;
  }
}

/** Objects converted by a conversion webhook, for one computation of owners. */
export interface ConvertedObjects {
  /** @throws MissingConversion for what is not known */
  get(object: JsonObject, to: string, what: string): JsonObject;
  add(missing: MissingConversion, converted: JsonObject): void;
}

/** Conversions by the content of what was converted. */
export function createConvertedObjects(): ConvertedObjects {
  const known = new Map<string, JsonObject>();
  const keyOf = (object: JsonObject, to: string): string => `${to}\n${jsonText(object)}`;
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
