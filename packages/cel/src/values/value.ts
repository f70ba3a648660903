import type { CelType } from '../types/type.js';

/** An error as the result of a step; `&&` and `||` may absorb it, everything else passes it on. */
export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** An unsigned 64-bit integer. */
export class Uint {
  readonly magnitude: bigint;

  constructor(magnitude: bigint) {
    this.magnitude = magnitude;
  }
}

/** A signed length of time in nanoseconds. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A point in time in nanoseconds since 1970, UTC. */
export class Timestamp {
  readonly unixNanos: bigint;

  constructor(unixNanos: bigint) {
    this.unixNanos = unixNanos;
  }
}

/** A type as a value, as returned by `type(x)`. */
export class TypeValue {
  readonly denoted: CelType;

  constructor(denoted: CelType) {
    this.denoted = denoted;
  }
}

/** A value that may be absent. */
export class Optional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A value, or the failure to read one. */
export type Operand = Value | Failure;

/** Whether two values are equal; a failure if they cannot be compared. */
export type Equality = (a: Operand, b: Operand) => boolean | Failure;

/** A list, in memory or made on demand. */
export abstract class ListValue {
  abstract get size(): number;
  /** The element; the index is in range. */
  abstract at(index: number): Value | Failure;

  *[Symbol.iterator](): Iterator<Value | Failure> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }

  /** The list with the elements of the other behind its own. */
  abstract concat(other: ListValue): ListValue | Failure;

  /** The JSON that this list is a view of, if any. */
  get raw(): readonly unknown[] | undefined {
    return undefined;
  }

  /** Equality, if the list's differs from element-wise comparison. */
  equalTo(_other: Operand, _equals: Equality): boolean | Failure | undefined {
    return undefined;
  }
}

/** A map, or an object with typed fields, which CEL reads like a map. */
export abstract class MapValue {
  abstract get size(): number;
  /** The value of a key; `undefined` if absent. A key of a type that the map cannot have is a failure. */
  abstract get(key: Value): Value | Failure | undefined;
  abstract keys(): Iterable<Value>;

  /** The JSON that this map is a view of, if any. */
  get raw(): object | undefined {
    return undefined;
  }

  /** Equality, if the map's differs from entry-wise comparison. */
  equalTo(_other: Operand, _equals: Equality): boolean | Failure | undefined {
    return undefined;
  }
}

/** A value of a library's type, such as a URL, a quantity, or an IP address. */
export abstract class LibraryValue {
  abstract readonly type: CelType;
  abstract equals(other: Value): boolean;
}

/** A value that was made by `Type{field: …}`. */
export class StructValue {
  readonly type: CelType;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(type: CelType, fields: ReadonlyMap<string, Value>) {
    this.type = type;
    this.fields = fields;
  }
}

/** Any CEL value: `bigint` is an int, `number` a double. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | StructValue
  | LibraryValue;

export const noSuchOverload: Failure = new Failure('no such overload');
