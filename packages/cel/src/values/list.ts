import { Failure, ListValue, type Value } from './value.js';

/** Lists up to this length are copied behind the list that they are appended to. */
const copied = 32;
/** How deep concatenations nest before they are flattened. */
const maxDepth = 64;
/** The longest list that is made by flattening. */
const maxFlat = 2 ** 20;

/**
 * A list of values in memory. Appending to the newest list over an array is amortised O(1), because the array is shared
 * and each list has its length of it.
 */
export class ArrayList extends ListValue {
  readonly #items: Value[];
  readonly #size: number;

  constructor(items: Value[], size: number = items.length) {
    super();
    this.#items = items;
    this.#size = size;
  }

  override get size(): number {
    return this.#size;
  }

  override at(index: number): Value {
    return this.#items[index] ?? null;
  }

  override concat(other: ListValue): ListValue | Failure {
    if (other.size > copied) return joined(this, other);
    const isNewest = this.#items.length === this.#size;
    if (!isNewest && this.#size > copied) return joined(this, other);
    const items = isNewest ? this.#items : this.#items.slice(0, this.#size);
    const size = this.#size;
    for (const item of other) {
      if (item instanceof Failure) {
        items.length = size;
        return item;
      }
      items.push(item);
    }
    return new ArrayList(items);
  }
}

function depthOf(list: ListValue): number {
  return list instanceof JoinedList ? list.depth : 0;
}

function joined(left: ListValue, right: ListValue): ListValue | Failure {
  if (left.size === 0) return right;
  if (right.size === 0) return left;
  const list = new JoinedList(left, right);
  return list.depth <= maxDepth ? list : list.flatten();
}

/** Two concatenated lists, not copied, so doubling a list thirty times costs thirty objects. */
class JoinedList extends ListValue {
  readonly depth: number;
  readonly #left: ListValue;
  readonly #right: ListValue;
  readonly #size: number;

  constructor(left: ListValue, right: ListValue) {
    super();
    this.#left = left;
    this.#right = right;
    this.#size = left.size + right.size;
    this.depth = Math.max(depthOf(left), depthOf(right)) + 1;
  }

  override get size(): number {
    return this.#size;
  }

  override at(index: number): Value | Failure {
    return index < this.#left.size ? this.#left.at(index) : this.#right.at(index - this.#left.size);
  }

  override concat(other: ListValue): ListValue | Failure {
    return joined(this, other);
  }

  flatten(): ListValue | Failure {
    if (this.#size > maxFlat) return new Failure('list is too long');
    const items: Value[] = [];
    for (const item of this) {
      if (item instanceof Failure) return item;
      items.push(item);
    }
    return new ArrayList(items);
  }
}

/** The list of two, whatever kinds they are. */
export function concatLists(left: ListValue, right: ListValue): ListValue | Failure {
  return joined(left, right);
}
