import type { NumberRange } from '@kctl/options';

/**
 * A schema of settings, with the part of Standard Schema and Standard JSON Schema that is used; zod 4.2 and ArkType
 * have both.
 */
export interface SettingsSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Carries the types; never present at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => SettingsResult<Output> | Promise<SettingsResult<Output>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
  };
}

/** Result of validating a value with a schema. */
export type SettingsResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SettingsIssue[] };

/** A problem of a value. */
export interface SettingsIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema gives. */
export type SettingsOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer O }
    ? O
    : unknown
  : unknown;

/** One setting, as flags, environment and file need it. */
export interface SettingField {
  /** In camel case: `logLevel` is `--log-level` and `LOG_LEVEL`. */
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'list';
  readonly description: string;
  readonly choices?: readonly string[];
  /** Range that a number has to be in, as `numberProblem` checks it. */
  readonly range?: NumberRange;
  /** For the help; what is not given is left to the schema. */
  readonly defaultText?: string;
}

/**
 * The fields of an object schema.
 *
 * @throws TypeError naming a field that a flag cannot carry
 */
export function fieldsOf(schema: SettingsSchema): readonly SettingField[] {
  const root = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  const { type, properties } = root;
  if (type !== 'object' || !isRecord(properties))
    throw new TypeError('settings: the schema is not one of an object: expected fields, such as z.object({ … })');
  return Object.entries(properties).map(([name, field]) => fieldOf(name, isRecord(field) ? field : {}));
}

function fieldOf(
  name: string,
  { type, description, default: fallback, ...rest }: Record<string, unknown>,
): SettingField {
  const choices = Array.isArray(rest['enum']) ? { choices: rest['enum'].map(String) } : {};
  const text = typeof description === 'string' ? description : '';
  const shown = fallback === undefined ? {} : { defaultText: JSON.stringify(fallback) };
  const common = { name, description: text, ...choices, ...shown };
  const known: unknown = Array.isArray(type) ? type.find((each: unknown) => each !== 'null') : type;
  switch (known) {
    case 'string':
      return { ...common, type: 'string' };
    case 'number':
    case 'integer':
      return { ...common, type: 'number' };
    case 'boolean':
      return { ...common, type: 'boolean' };
    case 'array':
      return { ...common, type: 'list' };
    default:
      if (choices.choices !== undefined) return { ...common, type: 'string' };
      throw new TypeError(
        `settings.${name}: a flag cannot carry ${JSON.stringify(type) ?? 'a value of any type'}: expected a string, a number, a boolean or a list of strings`,
      );
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
