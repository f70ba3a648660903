import type { CelType } from '../types/type.js';
import type { Value } from '../values/value.js';
import type { FunctionTable } from './functions.js';

/** A name that expressions may use, either a variable or, with `value`, a constant such as the type `int`. */
export interface Declaration {
  readonly name: string;
  readonly type: CelType;
  readonly value?: Value;
}

/** Looks up object types and their fields. */
export interface TypeProvider {
  isStruct(typeName: string): boolean;
  /** The type of a field; undefined when the type has no such field. */
  fieldType(typeName: string, field: string): CelType | undefined;
}

/** The inputs of the checker besides the expression. */
export interface CheckScope {
  readonly functions: FunctionTable;
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly types: TypeProvider;
}
