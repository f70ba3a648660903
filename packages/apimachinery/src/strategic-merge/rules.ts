import { kinds, types } from './generated/facts.js';

/** How a field is merged, if not as in a JSON merge patch. */
export interface FieldRules {
  /** Of an object, which is replaced as a whole. */
  readonly isReplaced: boolean;
  /** Of an object, or of the items of a list, which is a union whose other fields are dropped. */
  readonly retainsKeys: boolean;
  /** Of a list that is merged. The field that distinguishes its items, '' if they are strings or numbers. */
  readonly mergeKey: string | undefined;
  /** Of what is in it. */
  readonly type: TypeRules;
}

/** The rules of a type's fields. */
export interface TypeRules {
  /** Undefined for a field that is merged as in a JSON merge patch, with all that is in it. */
  rulesOf(field: string): FieldRules | undefined;
}

const noRules: TypeRules = { rulesOf: () => undefined };

/** `name[rules][:type]`, as the facts have it. */
const written = /^([^!=*:]+)(!?)(=?)(?:\*([^:]*))?(?::(\d+))?$/;

/** The rules of a kind; undefined for one that is not built in. */
export function rulesOfKind(apiVersion: string, kind: string): TypeRules | undefined {
  const named = Object.hasOwn(kinds, apiVersion) ? kinds[apiVersion]?.split(' ') : undefined;
  const found = named?.find((each) => each.startsWith(`${kind}:`));
  return found === undefined ? undefined : typeOf(found.slice(kind.length + 1));
}

function typeOf(number: string | undefined): TypeRules {
  const fields = number === undefined ? undefined : types[Number(number)]?.split(' ');
  if (fields === undefined) return noRules;
  return {
    rulesOf: (field) => {
      const [, name, retains = '', replaced = '', mergeKey, type] =
        fields.map((each) => written.exec(each)).find((match) => match?.[1] === field) ?? [];
      if (name === undefined) return undefined;
      return { isReplaced: replaced !== '', retainsKeys: retains !== '', mergeKey, type: typeOf(type) };
    },
  };
}
