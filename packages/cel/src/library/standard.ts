import type { FunctionEntry } from '../check/functions.js';
import { compareValues, equalValues } from '../values/equal.js';
import { Failure, MapValue, noSuchOverload, type Value } from '../values/value.js';
import { GrowingMap } from '../values/map.js';
import { hasKey } from '../run/select.js';
import { typeOfValue } from '../values/type-of.js';
import { Optional, ListValue, TypeValue } from '../values/value.js';
import { actualSize } from '../cost/sizes.js';

const comparable = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
/** Types of another kind that a number is compared with, in cel-go's order like all overloads. */
const mixed: ReadonlyMap<string, readonly string[]> = new Map([
  ['int', ['double', 'uint']],
  ['uint', ['double', 'int']],
  ['double', ['int', 'uint']],
]);

/** Names of types as cel-go's overload ids spell them: `less_int64`. */
function spell(type: string): string {
  return type === 'int' || type === 'uint' ? `${type}64` : type;
}

function comparison(name: string, word: string, holds: (order: number) => boolean): FunctionEntry[] {
  const call: FunctionEntry['call'] = ([a = null, b = null]) => {
    const order = compareValues(a, b);
    if (order === undefined) return noSuchOverload;
    return order === 'unordered' ? new Failure('NaN values cannot be ordered') : holds(order);
  };
  return comparable.flatMap((type) => {
    const others = mixed.get(type) ?? [];
    return [
      { name, id: `${word}_${spell(type)}`, type: `(${type}, ${type}): bool`, call },
      ...others.map((other) => ({
        name,
        id: `${word}_${spell(type)}_${spell(other)}`,
        type: `(${type}, ${other}): bool`,
        call,
      })),
    ];
  });
}

const equality: FunctionEntry[] = [
  {
    name: '_==_',
    id: 'equals',
    type: '(A, A): bool',
    call: ([a = null, b = null], { meter }) => equalValues(a, b, meter),
  },
  {
    name: '_!=_',
    id: 'not_equals',
    type: '(A, A): bool',
    call: ([a = null, b = null], { meter }) => equalValues(a, b, meter) !== true,
  },
];

function inList(list: ListValue, value: Value, meter: { toil(steps: number): void }): boolean | Failure {
  let failure: Failure | undefined;
  const { size } = list;
  for (let index = 0; index < size; index++) {
    const item = list.at(index);
    const equal = equalValues(item, value, meter);
    if (equal === true) return true;
    // Lists without a schema pass over what cannot be compared.
    if (equal instanceof Failure && list.raw !== undefined) failure ??= equal;
  }
  return failure ?? false;
}

const containers: FunctionEntry[] = [
  {
    name: '@in',
    id: 'in_list',
    type: '(A, list(A)): bool',
    call: ([value = null, list], { meter }) =>
      list instanceof ListValue ? inList(list, value, meter) : noSuchOverload,
  },
  {
    name: '@in',
    id: 'in_map',
    type: '(A, map(A, B)): bool',
    call: ([key = null, map]) => (map instanceof MapValue ? hasKey(map, key) : noSuchOverload),
  },
  ...['bytes', 'list(A)', 'map(A, B)', 'string'].flatMap((type) => {
    const word = type.replace(/\(.*/, '');
    const call: FunctionEntry['call'] = ([value]) => BigInt(actualSize(value));
    return [
      { name: 'size', id: `size_${word}`, type: `(${type}): int`, call },
      { name: 'size', id: `${word}_size`, type: `${type}.(): int`, call },
    ];
  }),
  {
    name: 'cel.@mapInsert',
    id: '@mapInsert_map_key_value',
    type: '(map(A, B), A, B): map(A, B)',
    call: ([map, key = null, value = null]) => (map instanceof GrowingMap ? map : new GrowingMap()).insert(key, value),
  },
  {
    name: 'cel.@mapInsert',
    id: '@mapInsert_map_map',
    type: '(map(A, B), map(A, B)): map(A, B)',
    call: ([map, more]) => {
      let grown = map instanceof GrowingMap ? map : new GrowingMap();
      if (!(more instanceof MapValue)) return noSuchOverload;
      for (const key of more.keys()) {
        const value = more.get(key) ?? null;
        const next = value instanceof Failure ? value : grown.insert(key, value);
        if (next instanceof Failure) return next;
        grown = next;
      }
      return grown;
    },
  },
];

const some = (value: Value | undefined): Optional => new Optional(value);

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  return (
    (value instanceof ListValue || value instanceof MapValue || value instanceof Uint8Array) && actualSize(value) === 0
  );
}

/** Optionals, `optional.of(x).orValue(y)`. */
export const optionalLibrary: readonly FunctionEntry[] = [
  { name: 'optional.of', id: 'optional_of', type: '(V): optional(V)', call: ([value]) => some(value) },
  {
    name: 'optional.ofNonZeroValue',
    id: 'optional_ofNonZeroValue',
    type: '(V): optional(V)',
    call: ([value = null]) => some(isZero(value) ? undefined : value),
  },
  { name: 'optional.none', id: 'optional_none', type: '(): optional(V)', call: () => some(undefined) },
  {
    name: 'value',
    id: 'optional_value',
    type: 'optional(V).(): V',
    call: ([value]) => {
      if (!(value instanceof Optional)) return noSuchOverload;
      return value.value === undefined ? new Failure('optional.none() dereference') : value.value;
    },
  },
  {
    name: 'hasValue',
    id: 'optional_hasValue',
    type: 'optional(V).(): bool',
    call: ([value]) => value instanceof Optional && value.value !== undefined,
  },
  {
    name: 'or',
    id: 'optional_or_optional',
    type: 'optional(V).(optional(V)): optional(V)',
    call: ([value]) => (value instanceof Optional && value.value !== undefined ? value : noSuchOverload),
  },
  {
    name: 'orValue',
    id: 'optional_orValue_value',
    type: 'optional(V).(V): V',
    call: ([value]) => (value instanceof Optional && value.value !== undefined ? value.value : noSuchOverload),
  },
  ...[
    ['list_optindex_optional_int', '(list(V), int): optional(V)'],
    ['optional_list_optindex_optional_int', '(optional(list(V)), int): optional(V)'],
    ['map_optindex_optional_value', '(map(K, V), K): optional(V)'],
    ['optional_map_optindex_optional_value', '(optional(map(K, V)), K): optional(V)'],
  ].map(([id = '', type = '']) => ({ name: '_[?_]', id, type, call: () => noSuchOverload })),
  ...[
    ['optional_list_index_int', '(optional(list(V)), int): optional(V)'],
    ['optional_map_index_value', '(optional(map(K, V)), K): optional(V)'],
  ].map(([id = '', type = '']) => ({ name: '_[_]', id, type, call: () => noSuchOverload })),
];

/** Built-in functions of cel-go, apart from arithmetic, conversions and strings. */
export const standardLibrary: readonly FunctionEntry[] = [
  ...equality,
  ...comparison('_<_', 'less', (order) => order < 0),
  ...comparison('_<=_', 'less_equals', (order) => order <= 0),
  ...comparison('_>_', 'greater', (order) => order > 0),
  ...comparison('_>=_', 'greater_equals', (order) => order >= 0),
  ...containers,
  // Planned by themselves; listed for the checker.
  { name: '_&&_', id: 'logical_and', type: '(bool, bool): bool', call: () => noSuchOverload },
  { name: '_||_', id: 'logical_or', type: '(bool, bool): bool', call: () => noSuchOverload },
  { name: '_?_:_', id: 'conditional', type: '(bool, A, A): A', call: () => noSuchOverload },
  { name: '_[_]', id: 'index_list', type: '(list(A), int): A', call: () => noSuchOverload },
  { name: '_[_]', id: 'index_map', type: '(map(A, B), A): B', call: () => noSuchOverload },
  { name: '@not_strictly_false', id: 'not_strictly_false', type: '(bool): bool', call: ([value]) => value !== false },
  {
    name: '!_',
    id: 'logical_not',
    type: '(bool): bool',
    call: ([value]) => (typeof value === 'boolean' ? !value : noSuchOverload),
  },
  { name: 'dyn', id: 'to_dyn', type: '(A): dyn', call: ([value = null]) => value },
  { name: 'type', id: 'type', type: '(A): type(A)', call: ([value = null]) => new TypeValue(typeOfValue(value)) },
];
