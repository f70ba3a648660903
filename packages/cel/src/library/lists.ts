import type { CallContext, FunctionEntry } from '../check/functions.js';
import { compareValues, equalValues } from '../values/equal.js';
import { ArrayList } from '../values/list.js';
import { Duration, Failure, ListValue, noSuchOverload, Optional, Uint, type Value } from '../values/value.js';
import { checkedInt, checkedUint } from './arithmetic.js';

type ListCall = (items: readonly Value[], rest: readonly Value[], context: CallContext) => Value | Failure;

/** The elements of a list; the first failure among them instead. */
export function itemsOf(list: ListValue, { meter }: CallContext): readonly Value[] | Failure {
  // Before anything is allocated, because a list may be longer than memory.
  meter.toil(list.size);
  const items: Value[] = [];
  for (const item of list) {
    if (item instanceof Failure) return item;
    items.push(item);
  }
  return items;
}

function onList(call: ListCall): FunctionEntry['call'] {
  return ([list, ...rest], context) => {
    if (!(list instanceof ListValue)) return noSuchOverload;
    const items = itemsOf(list, context);
    return items instanceof Failure ? items : call(items, rest, context);
  };
}

function member(name: string, id: string, type: string, call: ListCall): FunctionEntry {
  return { name, id, type, call: onList(call) };
}

function find(items: readonly Value[], value: Value, context: CallContext): number {
  return items.findIndex((item) => equalValues(item, value, context.meter) === true);
}

function findLast(items: readonly Value[], value: Value, context: CallContext): number {
  return items.findLastIndex((item) => equalValues(item, value, context.meter) === true);
}

function order(a: Value, b: Value): number | undefined {
  const result = compareValues(a, b);
  return result === 'unordered' ? undefined : result;
}

function isSorted(items: readonly Value[]): boolean | Failure {
  for (let index = 1; index < items.length; index++) {
    const result = order(items[index - 1] ?? null, items[index] ?? null);
    if (result === undefined) return noSuchOverload;
    if (result > 0) return false;
  }
  return true;
}

function add(a: Value, b: Value): Value | Failure {
  if (typeof a === 'bigint' && typeof b === 'bigint') return checkedInt(a + b);
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.magnitude + b.magnitude);
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.nanos + b.nanos);
  return noSuchOverload;
}

function total(items: readonly Value[], zero: Value): Value | Failure {
  let sum = zero;
  for (const item of items) {
    const next = add(sum, item);
    if (next instanceof Failure) return next;
    sum = next;
  }
  return sum;
}

function extreme(items: readonly Value[], name: 'min' | 'max'): Value | Failure {
  const [first, ...rest] = items;
  if (first === undefined) return new Failure(`${name} called on empty list`);
  let best = first;
  for (const item of rest) {
    const result = order(item, best);
    if (result === undefined) return noSuchOverload;
    if (name === 'min' ? result < 0 : result > 0) best = item;
  }
  return best;
}

const summable: readonly (readonly [type: string, zero: Value])[] = [
  ['int', 0n],
  ['uint', new Uint(0n)],
  ['double', 0],
  ['duration', new Duration(0n)],
];
const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

/** Kubernetes' functions of lists. */
export const listLibrary: readonly FunctionEntry[] = [
  ...comparable.flatMap((type) => [
    member('isSorted', `list_${type}_is_sorted_bool`, `list(${type}).(): bool`, isSorted),
    member('max', `list_${type}_max_${type}`, `list(${type}).(): ${type}`, (items) => extreme(items, 'max')),
    member('min', `list_${type}_min_${type}`, `list(${type}).(): ${type}`, (items) => extreme(items, 'min')),
  ]),
  ...summable.map(([type, zero]) =>
    member('sum', `list_${type}_sum_${type}`, `list(${type}).(): ${type}`, (items) => total(items, zero)),
  ),
  member('indexOf', 'list_a_index_of_int', 'list(A).(A): int', (items, [value = null], context) =>
    BigInt(find(items, value, context)),
  ),
  member('lastIndexOf', 'list_a_last_index_of_int', 'list(A).(A): int', (items, [value = null], context) =>
    BigInt(findLast(items, value, context)),
  ),
];

function sorted(items: readonly Value[], keys: readonly Value[]): Value | Failure {
  if (items.length !== keys.length) {
    return new Failure(`@sortByAssociatedKeys() expected a list of the same size as the associated keys list`);
  }
  let isOrdered = true;
  const positions = keys
    .map((_, index) => index)
    .sort((a, b) => {
      const result = order(keys[a] ?? null, keys[b] ?? null);
      isOrdered &&= result !== undefined;
      return result ?? 0;
    });
  if (!isOrdered) return new Failure('list elements must have the same type');
  return new ArrayList(positions.map((position) => items[position] ?? null));
}

function flatten(items: readonly Value[], depth: bigint, context: CallContext): Value | Failure {
  if (depth < 0n) return new Failure('level must be non-negative');
  const flat: Value[] = [];
  for (const item of items) {
    if (!(item instanceof ListValue) || depth === 0n) {
      flat.push(item);
      continue;
    }
    const inner = itemsOf(item, context);
    const part = inner instanceof Failure ? inner : flatten(inner, depth - 1n, context);
    if (part instanceof Failure) return part;
    if (part instanceof ListValue) for (const each of part) if (!(each instanceof Failure)) flat.push(each);
  }
  return new ArrayList(flat);
}

function slice(items: readonly Value[], [start, end]: readonly Value[]): Value | Failure {
  if (typeof start !== 'bigint' || typeof end !== 'bigint') return noSuchOverload;
  if (start < 0n || end < 0n) return new Failure(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) {
    return new Failure(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  }
  if (end > BigInt(items.length)) return new Failure(`cannot slice(${start}, ${end}), list is length ${items.length}`);
  return new ArrayList(items.slice(Number(start), Number(end)));
}

function distinct(items: readonly Value[], context: CallContext): Value {
  const unique: Value[] = [];
  for (const item of items) if (find(unique, item, context) < 0) unique.push(item);
  return new ArrayList(unique);
}

function numbers([count]: readonly Value[], { meter }: CallContext): Value | Failure {
  if (typeof count !== 'bigint') return noSuchOverload;
  if (Number(count) > meter.left) meter.spend(Number(count));
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
}

/** cel-go's list extension, version 3. */
export const listExtension: readonly FunctionEntry[] = [
  member('slice', 'list_slice', 'list(T).(int, int): list(T)', slice),
  member('flatten', 'list_flatten', 'list(list(T)).(): list(T)', (items, _, context) => flatten(items, 1n, context)),
  member('flatten', 'list_flatten_int', 'list(dyn).(int): list(dyn)', (items, [depth], context) =>
    typeof depth === 'bigint' ? flatten(items, depth, context) : noSuchOverload,
  ),
  ...comparable.flatMap((type) => [
    member('sort', `list_${type}_sort`, `list(${type}).(): list(${type})`, (items) => sorted(items, items)),
    member(
      '@sortByAssociatedKeys',
      `list_${type}_sortByAssociatedKeys`,
      `list(T).(list(${type})): list(T)`,
      (items, [keys], context) => {
        const own = keys instanceof ListValue ? itemsOf(keys, context) : noSuchOverload;
        return own instanceof Failure ? own : sorted(items, own);
      },
    ),
  ]),
  { name: 'lists.range', id: 'lists_range', type: '(int): list(int)', call: numbers },
  member('reverse', 'list_reverse', 'list(T).(): list(T)', (items) => new ArrayList(items.toReversed())),
  member('distinct', 'list_distinct', 'list(T).(): list(T)', (items, _, context) => distinct(items, context)),
];

/** `first()` and `last()`, which come with the optionals. */
export const listEnds: readonly FunctionEntry[] = [
  member('first', 'list_first', 'list(V).(): optional(V)', (items) => new Optional(items[0])),
  member('last', 'list_last', 'list(V).(): optional(V)', (items) => new Optional(items.at(-1))),
  ...[
    ['optional.unwrap', 'optional_unwrap', '(list(optional(V))): list(V)'],
    ['unwrapOpt', 'optional_unwrapOpt', 'list(optional(V)).(): list(V)'],
  ].map(([name = '', id = '', type = '']) =>
    member(
      name,
      id,
      type,
      (items) =>
        new ArrayList(
          items.flatMap((item) => (item instanceof Optional && item.value !== undefined ? [item.value] : [])),
        ),
    ),
  ),
];

function setCall(
  test: (a: readonly Value[], b: readonly Value[], context: CallContext) => boolean,
): FunctionEntry['call'] {
  return ([left, right], context) => {
    if (!(left instanceof ListValue) || !(right instanceof ListValue)) return noSuchOverload;
    const a = itemsOf(left, context);
    const b = itemsOf(right, context);
    if (a instanceof Failure) return a;
    return b instanceof Failure ? b : test(a, b, context);
  };
}

const contains = (a: readonly Value[], b: readonly Value[], context: CallContext): boolean =>
  b.every((item) => find(a, item, context) >= 0);

/** cel-go's sets extension. */
export const setLibrary: readonly FunctionEntry[] = [
  { name: 'sets.contains', id: 'list_sets_contains_list', type: '(list(T), list(T)): bool', call: setCall(contains) },
  {
    name: 'sets.equivalent',
    id: 'list_sets_equivalent_list',
    type: '(list(T), list(T)): bool',
    call: setCall((a, b, context) => contains(a, b, context) && contains(b, a, context)),
  },
  {
    name: 'sets.intersects',
    id: 'list_sets_intersects_list',
    type: '(list(T), list(T)): bool',
    call: setCall((a, b, context) => a.some((item) => find(b, item, context) >= 0)),
  },
];
