/** The part of Standard JSON Schema that this package requires of a schema library. */
export interface SchemaValue<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Carries the types; never present at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: (options: JsonSchemaRequest) => Record<string, unknown>;
      readonly output: (options: JsonSchemaRequest) => Record<string, unknown>;
    };
  };
}

/** Options for writing a JSON Schema. */
export interface JsonSchemaRequest {
  readonly target: string;
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/** The type of a value before a library fills in its defaults, so fields that a manifest may omit are optional. */
export type SchemaInput<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer I }
    ? I
    : unknown
  : unknown;

/** The type of a value with its defaults, as the API server stores it. */
export type SchemaOutput<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer O }
    ? O
    : unknown
  : unknown;

/**
 * A schema value from JSON Schema that was written by hand, or by a library that is not a Standard JSON Schema library
 * (TypeBox). The type is passed explicitly, because JSON has no types.
 *
 * @example
 * const Spec = fromJsonSchema<{ size: number }>({ type: 'object', properties: { size: { type: 'integer' } } });
 */
export function fromJsonSchema<T>(schema: object): SchemaValue<T> {
  const write = (): Record<string, unknown> => ({ ...schema });
  return { '~standard': { version: 1, vendor: 'json-schema', jsonSchema: { input: write, output: write } } };
}
