import { Failure, ListValue, MapValue, type Value } from '../values/value.js';
import type { Frame, Plan } from './step.js';

/** A fold, planned. */
export interface FoldParts {
  readonly range: Plan;
  readonly init: Plan;
  readonly condition: Plan;
  readonly step: Plan;
  readonly result: Plan;
  readonly slots: { readonly accu: number; readonly first: number; readonly second: number | undefined };
}

function* pairs(range: ListValue | MapValue): Iterable<readonly [Value, Value | Failure]> {
  if (range instanceof ListValue) {
    const { size } = range;
    for (let index = 0; index < size; index++) yield [BigInt(index), range.at(index)];
    return;
  }
  for (const key of range.keys()) yield [key, range.get(key) ?? null];
}

function* singles(range: ListValue | MapValue): Iterable<Value | Failure> {
  if (range instanceof MapValue) {
    yield* range.keys();
    return;
  }
  const { size } = range;
  for (let index = 0; index < size; index++) yield range.at(index);
}

class Fold {
  readonly #parts: FoldParts;
  readonly #frame: Frame;

  constructor(parts: FoldParts, frame: Frame) {
    this.#parts = parts;
    this.#frame = frame;
  }

  run(range: ListValue | MapValue): Value | Failure {
    const { slots, init, result } = this.#parts;
    const { locals } = this.#frame;
    const before = [locals[slots.accu], locals[slots.first]];
    locals[slots.accu] = init.run(this.#frame);
    if (slots.second === undefined) this.#overSingles(range);
    else this.#overPairs(range, slots.second);
    const value = result.run(this.#frame);
    [locals[slots.accu], locals[slots.first]] = before;
    return value;
  }

  #overSingles(range: ListValue | MapValue): void {
    const { locals } = this.#frame;
    for (const item of singles(range)) {
      locals[this.#parts.slots.first] = item;
      if (!this.#next()) return;
    }
  }

  #overPairs(range: ListValue | MapValue, second: number): void {
    const { locals } = this.#frame;
    for (const [key, value] of pairs(range)) {
      locals[this.#parts.slots.first] = key;
      locals[second] = value;
      if (!this.#next()) return;
    }
  }

  #next(): boolean {
    const { condition, step, slots } = this.#parts;
    const goesOn = condition.run(this.#frame);
    if (goesOn === false) return false;
    this.#frame.locals[slots.accu] = step.run(this.#frame);
    return true;
  }
}

export function planFold(parts: FoldParts): Plan {
  return {
    run: (frame) => {
      const range = parts.range.run(frame);
      if (range instanceof Failure) return range;
      if (range instanceof ListValue || range instanceof MapValue) return new Fold(parts, frame).run(range);
      return new Failure('got a value that cannot be iterated, expected iterable type');
    },
  };
}
