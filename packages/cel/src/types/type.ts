/** Kinds of CEL types. */
export type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'param';

/** A type of the checker. */
export interface CelType {
  readonly kind: TypeKind;
  /** The name in messages; of a struct or opaque type its identity. */
  readonly name: string;
  readonly params: readonly CelType[];
}

function simple(kind: TypeKind, name: string = kind): CelType {
  return Object.freeze({ kind, name, params: [] });
}

export const dynType: CelType = simple('dyn');
export const errorType: CelType = simple('error', '!error!');
export const nullType: CelType = simple('null');
export const boolType: CelType = simple('bool');
export const intType: CelType = simple('int');
export const uintType: CelType = simple('uint');
export const doubleType: CelType = simple('double');
export const stringType: CelType = simple('string');
export const bytesType: CelType = simple('bytes');
export const timestampType: CelType = simple('timestamp');
export const durationType: CelType = simple('duration');

export function listType(element: CelType): CelType {
  return { kind: 'list', name: 'list', params: [element] };
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', params: [key, value] };
}

export function structType(name: string): CelType {
  return { kind: 'struct', name, params: [] };
}

export function opaqueType(name: string, ...params: CelType[]): CelType {
  return { kind: 'opaque', name, params };
}

export function typeType(of?: CelType): CelType {
  return { kind: 'type', name: 'type', params: of === undefined ? [] : [of] };
}

export function paramType(name: string): CelType {
  return { kind: 'param', name, params: [] };
}

export function optionalType(of: CelType): CelType {
  return opaqueType('optional_type', of);
}

/** The type in messages: `map(string, list(int))`. */
export function formatType(type: CelType): string {
  if (type.params.length === 0) return type.name;
  return `${type.name}(${type.params.map(formatType).join(', ')})`;
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false;
  return a.params.every((param, index) => sameType(param, b.params[index] ?? errorType));
}

/** The type of an optional's value, or the type itself. */
export function unwrapOptional(type: CelType): { readonly type: CelType; readonly isOptional: boolean } {
  const [inner] = type.params;
  if (type.kind === 'opaque' && type.name === 'optional_type' && inner !== undefined) {
    return { type: inner, isOptional: true };
  }
  return { type, isOptional: false };
}
