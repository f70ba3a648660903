import type { JsonObject } from './json-object.js';

/**
 * The schema of a built-in type, to be embedded in the schema of a custom resource. It is a Standard JSON Schema value,
 * whose JSON Schema is structural (as a CustomResourceDefinition requires).
 */
export interface TypeSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'kctl';
    /** Carries the type; never present at run time. */
    readonly types?: { readonly input: T; readonly output: T } | undefined;
    readonly jsonSchema: {
      readonly input: (options?: unknown) => JsonObject;
      readonly output: (options?: unknown) => JsonObject;
    };
  };
}

/** Makes the schema of a type. `write` is called for each use, and may refer to the schemas of other types. */
export function typeSchema<T>(write: () => JsonObject): TypeSchema<T> {
  return { '~standard': { version: 1, vendor: 'kctl', jsonSchema: { input: write, output: write } } };
}

/** The schema of a field, which is that of its type plus the properties of the field itself. */
export function fieldSchema(type: TypeSchema<unknown>, field: JsonObject): JsonObject {
  return { ...type['~standard'].jsonSchema.input(), ...field };
}
