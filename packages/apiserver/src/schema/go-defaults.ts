import {
  arrayOf,
  cloneJson,
  isObject,
  setOwn,
  type GoStruct,
  type GoType,
  type JsonObject,
} from '@kctl/crd/internal/engine';

/** Defaulting of one type, in place; called before what is inside it is defaulted. By Go name, e.g. `v1.Container`. */
export type TypeDefaults = ReadonlyMap<string, (value: JsonObject) => void>;

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

/** Walks objects of built-in types and fills in defaults, those of `+default` markers and those given by type. */
export class Defaulter {
  readonly #byType: TypeDefaults;
  readonly #concerned = new Map<GoStruct, boolean>();

  constructor(byType: TypeDefaults) {
    this.#byType = byType;
  }

  /**
   * Whether a struct or anything below it has defaults. Structs without defaults are not walked. A circle counts as
   * having some.
   */
  #concerns(struct: GoStruct): boolean {
    const known = this.#concerned.get(struct);
    if (known !== undefined) return known;
    this.#concerned.set(struct, true);
    let found = this.#byType.has(struct.goName);
    for (const { type, default: value } of struct.fields.values()) {
      if (found) break;
      let inner = type;
      while (inner.form === 'list' || inner.form === 'map') inner = inner.of;
      found = (value !== undefined && !isZero(value)) || (inner.form === 'struct' && this.#concerns(inner.struct));
    }
    this.#concerned.set(struct, found);
    return found;
  }

  /** Fills in the defaults of an object, in place. */
  apply(object: JsonObject, struct: GoStruct): void {
    if (!this.#concerns(struct)) return;
    this.#byType.get(struct.goName)?.(object);
    for (const { name, type, default: value } of struct.fields.values()) {
      const present = Object.hasOwn(object, name) ? object[name] : undefined;
      if (value !== undefined && !isZero(value) && (present === undefined || present === null || present === '')) {
        setOwn(object, name, cloneJson(value));
      } else if (typeof present === 'object' && present !== null) {
        this.#visit(present, type);
      }
    }
  }

  #visit(value: unknown, type: GoType): void {
    if (type.form === 'struct') {
      if (isObject(value)) this.apply(value, type.struct);
    } else if (type.form === 'list') {
      for (const item of arrayOf(value)) this.#visit(item, type.of);
    } else if (type.form === 'map' && isObject(value)) {
      for (const entry of Object.values(value)) this.#visit(entry, type.of);
    }
  }
}
