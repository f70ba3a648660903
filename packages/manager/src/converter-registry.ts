import { parseApiVersion } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { KubeObject } from '@kctl/apimachinery';
import type { Converter } from '@kctl/webhook';
import { shownType } from '@kctl/options';
import { ManagerError } from './errors.js';

/** Converters by group and kind, behind one conversion webhook. Mirrors `conversion.Registry`. */
export interface ConverterRegistry {
  /** @throws ManagerError when the kind has a converter already; TypeError for a converter that is not a function */
  register(kind: { readonly group: string; readonly kind: string }, converter: Converter): void;
  /** Whether a kind has a converter. Readiness depends on it, see `health` of the manager. */
  readonly has: (kind: { readonly group: string; readonly kind: string }) => boolean;
  /** Converts an object with the converter of its kind. @throws ManagerError when there is no converter */
  readonly convert: Converter;
}

/** Makes an empty registry. */
export function createConverterRegistry(): ConverterRegistry {
  const converters = new Map<string, Converter>();
  const nameOf = (object: KubeObject): string =>
    formatGroupKind({ group: parseApiVersion(object.apiVersion ?? '').group, kind: object.kind ?? '' });
  return {
    register: (kind, converter) => {
      const name = formatGroupKind(kind);
      if (typeof converter !== 'function')
        throw new TypeError(`register: the converter of ${name} is ${shownType(converter)}: expected a function`);
      if (converters.has(name)) throw new ManagerError(`${name} has a converter already`);
      converters.set(name, converter);
    },
    has: (kind) => converters.has(formatGroupKind(kind)),
    convert: (object, desiredApiVersion, context) => {
      const converter = converters.get(nameOf(object));
      if (converter === undefined) throw new ManagerError(`no converter is registered for ${nameOf(object)}`);
      return converter(object, desiredApiVersion, context);
    },
  };
}
