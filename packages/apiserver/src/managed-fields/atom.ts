/**
 * The granularity of ownership in a type, as the parts of a value that are owned each by itself, and those only as a
 * whole.
 */
export interface Atom {
  readonly scalar?: Scalar;
  readonly list?: ListAtom;
  readonly map?: MapAtom;
}

/** `untyped` takes any scalar. */
export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/** A list, owned as a whole or item by item. */
export interface ListAtom {
  readonly isAtomic: boolean;
  /** Fields that distinguish items; empty for sets and atomic lists. */
  readonly keys: readonly string[];
  readonly items: Atom;
}

/** A struct or map, owned as a whole or field by field. */
export interface MapAtom {
  readonly isAtomic: boolean;
  /** A declared field. */
  field(name: string): FieldAtom | undefined;
  /** The type of fields that are not declared; undefined if such fields are not allowed. */
  readonly others: Atom | undefined;
}

/** A declared field. */
export interface FieldAtom {
  readonly type: Atom;
  /** Value that stands for an absent key field of a list item. */
  readonly default?: unknown;
}

/** Anything, owned as a whole. */
export const untypedAtomic: Atom = {
  scalar: 'untyped',
  list: {
    isAtomic: true,
    keys: [],
    get items() {
      return untypedAtomic;
    },
  },
  map: {
    isAtomic: true,
    field: () => undefined,
    get others() {
      return untypedAtomic;
    },
  },
};

/** Anything, owned field by field as far as maps go. */
export const deduced: Atom = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], items: untypedAtomic },
  map: {
    isAtomic: false,
    field: () => undefined,
    get others() {
      return deduced;
    },
  },
};

/** How a value of a type is looked at. */
export type AtomForm = 'map' | 'scalar' | 'list';

/** The form of a value, which is its actual form if the type allows it, else the first form of the type. */
export function formOf(atom: Atom, value: unknown): AtomForm {
  if (value !== undefined && value !== null) {
    if (Array.isArray(value)) {
      if (atom.list !== undefined) return 'list';
    } else if (typeof value === 'object') {
      if (atom.map !== undefined) return 'map';
    } else if (atom.scalar !== undefined) return 'scalar';
  }
  if (atom.map !== undefined) return 'map';
  return atom.scalar === undefined ? 'list' : 'scalar';
}

/** The type of a field, declared or not; undefined if the field is not allowed. */
export function fieldType(map: MapAtom, name: string): Atom | undefined {
  return map.field(name)?.type ?? map.others;
}
