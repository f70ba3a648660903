import type { GoField, GoScalar, GoStruct, GoType } from '@kctl/crd/internal/engine';
import { deduced, untypedAtomic, type Atom, type FieldAtom, type ListAtom, type MapAtom, type Scalar } from './atom.js';

const string: Atom = { scalar: 'string' };
const anyMap = deduced;

const scalars: Readonly<Record<GoScalar, Atom>> = {
  string,
  bool: { scalar: 'boolean' },
  int32: { scalar: 'numeric' },
  int64: { scalar: 'numeric' },
  float64: { scalar: 'numeric' },
  bytes: string,
  any: anyMap,
  time: { scalar: 'untyped' satisfies Scalar },
  microTime: { scalar: 'untyped' },
  duration: string,
  quantity: { scalar: 'untyped' },
  intOrString: { scalar: 'untyped' },
  raw: untypedAtomic,
};

/** Structs that upstream marks `+structType=atomic`: owned as a whole wherever they stand. */
const atomicStructs: ReadonlySet<string> = new Set(
  [
    'ConfigMapKeySelector CrossVersionObjectReference EndpointAddress EndpointPort FileKeySelector LabelSelector',
    'LocalObjectReference MatchResources NamedRuleWithOperations NodeSelector NodeSelectorTerm ObjectFieldSelector',
    'ObjectReference OwnerReference ParamKind ParamRef ResourceFieldSelector RoleRef ScopeSelector SecretKeySelector',
    'SecretReference ServiceBackendPort Subject TopologySelectorTerm TypedLocalObjectReference Variable',
  ].flatMap((line) => line.split(' ').map((name) => `v1.${name}`)),
);

const structs = new WeakMap<GoStruct, Atom>();

/** The type of a struct of a built-in kind. */
export function structAtom(struct: GoStruct): Atom {
  let atom = structs.get(struct);
  if (atom === undefined) {
    atom = { map: structMap(struct, atomicStructs.has(struct.goName)) };
    structs.set(struct, atom);
  }
  return atom;
}

function structMap(struct: GoStruct, isAtomic: boolean): MapAtom {
  const known = new Map<string, FieldAtom>();
  return {
    isAtomic,
    field(name) {
      let field = known.get(name);
      if (field !== undefined) return field;
      const declared = struct.fields.get(name);
      if (declared === undefined) return undefined;
      field = fieldAtom(declared);
      known.set(name, field);
      return field;
    },
    // A struct without fields may hold anything.
    get others() {
      return struct.fields.size === 0 ? deduced : undefined;
    },
  };
}

const zeros: Partial<Record<GoScalar, unknown>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 };

function fieldAtom(field: GoField): FieldAtom {
  const { type } = field;
  const isWritten = !field.omitEmpty && !type.pointer && type.form === 'scalar';
  const value = field.default ?? (isWritten ? zeros[type.scalar] : undefined);
  return { type: fieldTypeAtom(field), ...(value !== undefined && { default: value }) };
}

function fieldTypeAtom(field: GoField): Atom {
  const { type } = field;
  if (type.form === 'list') return { list: listAtom(field, type.of) };
  if (field.mapType === undefined) return typeAtom(type);
  const isAtomic = field.mapType === 'atomic';
  if (type.form === 'struct') return { map: structMap(type.struct, isAtomic) };
  return type.form === 'map' ? { map: mapOf(type.of, isAtomic) } : typeAtom(type);
}

function listAtom(field: GoField, of: GoType): ListAtom {
  const { listType, patchStrategy = [], patchMergeKey, listMapKeys = [] } = field;
  if (listType !== undefined) return lazyList(listType === 'atomic', listType === 'map' ? listMapKeys : [], of);
  if (!patchStrategy.includes('merge')) return lazyList(true, [], of);
  return lazyList(false, patchMergeKey === undefined ? [] : [patchMergeKey], of);
}

function lazyList(isAtomic: boolean, keys: readonly string[], of: GoType): ListAtom {
  let items: Atom | undefined;
  return {
    isAtomic,
    keys,
    get items() {
      items ??= typeAtom(of);
      return items;
    },
  };
}

function mapOf(of: GoType, isAtomic: boolean): MapAtom {
  let others: Atom | undefined;
  return {
    isAtomic,
    field: () => undefined,
    get others() {
      others ??= typeAtom(of);
      return others;
    },
  };
}

function typeAtom(type: GoType): Atom {
  switch (type.form) {
    case 'scalar':
      return scalars[type.scalar];
    case 'list':
      return { list: lazyList(true, [], type.of) };
    case 'map':
      return { map: mapOf(type.of, false) };
    case 'struct':
      return structAtom(type.struct);
    case 'union':
      return deduced;
  }
}
