import { jsonNumber } from '@kctl/cel/internal';
import type { Pattern } from './pattern.js';

/** JSON types as OpenAPI names them. */
export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** How the items of a list belong together. */
export type ListType = 'atomic' | 'set' | 'map';

/** A CEL rule of `x-kubernetes-validations`, kept, and evaluated if there is a CEL engine. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Constraints on values, which may also stand below allOf, anyOf, oneOf and not. */
export interface ValueConstraints {
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: Pattern;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
}

/** One node of a structural schema, compiled. The one form behind custom resources and built-in kinds. */
export interface Schema extends ValueConstraints {
  /** Absent if any type is allowed (below `x-kubernetes-preserve-unknown-fields`), or for int-or-string. */
  readonly type?: SchemaType;
  /** Named properties; sorted by name for custom resources, in order of declaration for built-ins. */
  readonly properties?: ReadonlyMap<string, Schema>;
  /** Schema of the values of a map; `true` if any value is allowed. */
  readonly additional?: Schema | true;
  /** Whether there may be no properties but those that are named: `additionalProperties: false`. */
  readonly isClosed?: boolean;
  readonly items?: Schema;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly preserveUnknown?: boolean;
  readonly embedded?: boolean;
  readonly intOrString?: boolean;
  readonly listType?: ListType;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly rules?: readonly ValidationRule[];
  /** Whether this node or one below it has rules, defaults or list types, which allows a walk to skip a subtree. */
  readonly has?: { readonly rules: boolean; readonly defaults: boolean; readonly listTypes: boolean };
}

/** The JSON type of a value as the validator names it. */
export function jsonTypeOf(value: unknown): SchemaType | 'null' {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return typeof jsonNumber(value) === 'bigint' ? 'integer' : 'number';
    case 'number':
      return Number.isSafeInteger(value) || typeof jsonNumber(value) === 'bigint' ? 'integer' : 'number';
    default:
      return 'object';
  }
}
