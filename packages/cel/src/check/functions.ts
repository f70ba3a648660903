import type { Meter } from '../meter.js';
import { parseSignature } from '../types/parse-type.js';
import type { CelType } from '../types/type.js';
import type { Failure, Value } from '../values/value.js';

/** Context that a function may use besides its arguments. */
export interface CallContext {
  readonly meter: Meter;
}

/** One shape of a function. */
export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  /** The receiver first, for a member. */
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly call: (args: readonly Value[], context: CallContext) => Value | Failure;
}

/** A function of a library, as libraries list them: `type` is a signature such as `string.(int): string`. */
export interface FunctionEntry {
  readonly name: string;
  readonly id: string;
  readonly type: string;
  readonly call: Overload['call'];
}

/** The functions of an environment by name. */
export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

export function functionTable(libraries: readonly (readonly FunctionEntry[])[]): FunctionTable {
  const table = new Map<string, Overload[]>();
  for (const { name, id, type, call } of libraries.flat()) {
    const overloads = table.get(name) ?? [];
    const { isMember, params, result } = parseSignature(type);
    overloads.push({ id, isMember, params, result, call });
    table.set(name, overloads);
  }
  return table;
}
