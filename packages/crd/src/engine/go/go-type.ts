/** Scalars, and types that marshal themselves. */
export type GoScalar =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bytes'
  | 'any'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'raw';

/** Type information that Go's JSON decoder uses, for the type of a field of a built-in kind. */
export type GoType = {
  readonly pointer: boolean;
  /** As Go's messages print it: `v1.PodSpec`, `[]v1.Container`, `int32`. */
  readonly goName: string;
} & (
  | { readonly form: 'scalar'; readonly scalar: GoScalar }
  /** `isMessage`: in protobuf a message with the items as field 1, and not a repeated field. */
  | { readonly form: 'list'; readonly of: GoType; readonly isMessage?: boolean }
  | { readonly form: 'map'; readonly of: GoType }
  | { readonly form: 'struct'; readonly struct: GoStruct }
  /** A struct, or instead of it a boolean, a list of such structs, or a list of strings. */
  | { readonly form: 'union'; readonly struct: GoStruct; readonly or: 'bool' | 'structs' | 'strings' }
);

/** A field of a struct. */
export interface GoField {
  readonly name: string;
  readonly type: GoType;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly optional: boolean;
  /** Number in protobuf; of a field of an embedded struct, the numbers on the way to it. */
  readonly protobuf?: readonly number[];
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  /** Value of a `+default` marker. */
  readonly default?: unknown;
}

/** A struct. Its fields are resolved on first use, because types may refer to each other in cycles. */
export interface GoStruct {
  /** `v1.PodSpec`. */
  readonly goName: string;
  /** By JSON name, in order of declaration. */
  readonly fields: ReadonlyMap<string, GoField>;
}
