import { listOption, objectOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import type { FunctionEntry } from './check/functions.js';
import { functionTable, type FunctionTable } from './check/functions.js';
import { check, type Checked } from './check/checker.js';
import type { Declaration, TypeProvider } from './check/scope.js';
import { validateLiterals } from './check/literals.js';
import { CelCompileError } from './errors.js';
import { estimateCost, type CostEstimate } from './cost/estimate.js';
import { libraries } from './library/libraries.js';
import { Planner } from './run/planner.js';
import { Program, type CelProgram, type VariableReader } from './program.js';
import { declTypeOf, structsOf, type DeclType } from './schema/decl-type.js';
import { withTypeAndObjectMeta, type StructuralSchema } from './schema/structural.js';
import type { MacroOptions } from './syntax/macros.js';
import { parse } from './syntax/parser.js';
import { parseType } from './types/parse-type.js';
import { formatType, optionalType, typeType, type CelType } from './types/type.js';
import { jsonValue, schemaValue } from './values/json.js';
import { TypeValue } from './values/value.js';

/** A variable whose fields and sizes a structural schema gives. */
export interface SchemaVariable {
  readonly schema: StructuralSchema;
  /** Whether the schema is that of a whole resource: `kind`, `apiVersion`, `metadata.name` are then there. Default false. */
  readonly isResource?: boolean;
  /** Whether the variable is an optional, as `oldSelf` is with `optionalOldSelf`. Default false. */
  readonly isOptional?: boolean;
}

/**
 * The type of a variable, by name (`dyn`, `string`, `map(string, list(int))`, `kubernetes.authorization.Authorizer`) or
 * by schema.
 */
export type CelVariable = string | SchemaVariable;

/** Options of {@link createCelEnvironment}. */
export interface CelEnvironmentOptions {
  /** The names that expressions may use. None by default. */
  readonly variables?: Readonly<Record<string, CelVariable>>;
  /**
   * The Kubernetes minor version whose libraries are there, `1.36`. A new rule is compiled with the libraries of the
   * minor before the server's, so that it still compiles after a rollback. Includes all libraries by default.
   */
  readonly version?: string;
  /**
   * Further object types that expressions may make (`Object{…}`) or select from, by name. `undefined` for a field means
   * that the type does not have it. None by default.
   */
  readonly objectTypes?: TypeProvider;
  /** Further functions. None by default. */
  readonly functions?: readonly FunctionEntry[];
}

/** Options of {@link CelEnvironment.compile}. */
export interface CelCompileOptions {
  /**
   * The types that the expression may have, by name, such as `bool` or `['string', 'null']`. An expression of type
   * `dyn` has none of them, as in the API server, so `object.spec.on` is not a `bool`, `object.spec.on == true` is. Any
   * type by default.
   */
  readonly resultType?: string | readonly string[];
}

/** Compiles expressions that may use its variables and functions. */
export interface CelEnvironment {
  /**
   * Compiles an expression.
   *
   * @throws CelCompileError with cel-go's message if the expression does not parse, does not type-check, or has another
   * type than required.
   */
  compile(expression: string, options?: CelCompileOptions): CelProgram;
  /**
   * The same environment with more variables. A variable replaces an existing one of the same name. Cheap, because the
   * libraries are shared.
   *
   * @throws TypeError for a variable whose type is not a CEL type.
   */
  extend(variables: Readonly<Record<string, CelVariable>>): CelEnvironment;
}

const environmentOptions: OptionNames<CelEnvironmentOptions> = {
  variables: objectOption('an object of variables'),
  version: textOption,
  objectTypes: objectOption('a provider of types'),
  functions: listOption('an array of functions', objectOption('a function')),
};
const compileOptions: OptionNames<CelCompileOptions> = {
  resultType: (name: string, value: unknown) =>
    typeof value === 'string'
      ? undefined
      : listOption('a name of a type, or an array of them', textOption)(name, value),
};

/** Type names as constants of the language: `type(x) == int`. */
const typeConstants: readonly (readonly [name: string, type: string])[] = [
  ...['bool', 'int', 'uint', 'double', 'string', 'bytes', 'dyn'].map((name) => [name, name] as const),
  ['list', 'list(dyn)'],
  ['map', 'map(dyn, dyn)'],
  ['type', 'type'],
  ['null_type', 'null'],
  ['optional_type', 'optional(dyn)'],
  ['google.protobuf.Timestamp', 'timestamp'],
  ['google.protobuf.Duration', 'duration'],
  ['net.IP', 'net.IP'],
  ['net.CIDR', 'net.CIDR'],
  ...['URL', 'Quantity', 'Semver', 'NamedFormat'].map((name) => [`kubernetes.${name}`, `kubernetes.${name}`] as const),
];

function readerOf(variable: CelVariable): VariableReader {
  if (typeof variable === 'string') return jsonValue;
  const schema = variable.isResource === true ? withTypeAndObjectMeta(variable.schema) : variable.schema;
  return (raw) => schemaValue(raw, schema);
}

/** State that environments share with those that extend them. */
interface Base {
  readonly functions: FunctionTable;
  readonly macros: MacroOptions;
  readonly constants: ReadonlyMap<string, Declaration>;
  readonly objectTypes: TypeProvider | undefined;
}

function baseOf(options: CelEnvironmentOptions): Base {
  const { entries, macros } = libraries(options.version);
  const constants = typeConstants.map(([name, text]): [string, Declaration] => {
    const type = parseType(text);
    return [name, { name, type: typeType(type), value: new TypeValue(type) }];
  });
  return {
    functions: functionTable([entries, options.functions ?? []]),
    macros,
    constants: new Map(constants),
    objectTypes: options.objectTypes,
  };
}

class Environment implements CelEnvironment {
  readonly #base: Base;
  readonly #variables: Readonly<Record<string, CelVariable>>;
  readonly #declarations: Map<string, Declaration>;
  readonly #decls = new Map<string, DeclType>();
  readonly #typeNames = new Map<StructuralSchema, string>();
  readonly #readers = new Map<string, VariableReader>();
  readonly #structs = new Map<string, ReadonlyMap<string, DeclType>>();
  readonly #types: TypeProvider;

  constructor(base: Base, variables: Readonly<Record<string, CelVariable>>) {
    this.#base = base;
    this.#variables = variables;
    this.#declarations = new Map(base.constants);
    for (const [name, variable] of Object.entries(variables)) this.#declare(name, variable);
    const further = base.objectTypes;
    this.#types = {
      isStruct: (name) => this.#structs.has(name) || (further?.isStruct(name) ?? false),
      fieldType: (name, field) => {
        const fields = this.#structs.get(name);
        // A keyword behind a dot is a field all the same: `self.namespace` beside `self.__namespace__`.
        return (fields?.get(field) ?? fields?.get(`__${field}__`))?.type ?? further?.fieldType(name, field);
      },
    };
  }

  extend(variables: Readonly<Record<string, CelVariable>>): CelEnvironment {
    return new Environment(this.#base, { ...this.#variables, ...variables });
  }

  #declare(name: string, variable: CelVariable): void {
    this.#readers.set(name, readerOf(variable));
    this.#declarations.set(name, { name, type: this.#typeOf(name, variable) });
  }

  #typeOf(name: string, variable: CelVariable): CelType {
    if (typeof variable === 'string') return parseType(variable);
    // Variables of one schema, as `self` and `oldSelf`, have one type.
    const typeName = this.#typeNames.get(variable.schema) ?? (this.#typeNames.size === 0 ? 'selfType' : name);
    this.#typeNames.set(variable.schema, typeName);
    const decl = declTypeOf(variable.schema, typeName, variable.isResource === true);
    if (decl === undefined) {
      throw new TypeError(`variable ${JSON.stringify(name)}: its schema has no type that CEL exposes: set a type`);
    }
    this.#decls.set(name, decl);
    for (const [struct, fields] of structsOf(decl)) this.#structs.set(struct, fields);
    return variable.isOptional === true ? optionalType(decl.type) : decl.type;
  }

  compile(expression: string, options: CelCompileOptions = {}): CelProgram {
    requireOptions('CelEnvironment.compile', options, compileOptions);
    const { expr, issues } = parse(expression, this.#base.macros);
    if (expr === undefined) throw new CelCompileError(`compilation failed: ${issues.format()}`, issues.list());
    const scope = { functions: this.#base.functions, declarations: this.#declarations, types: this.#types };
    const checked = check(expr, scope, issues);
    if (checked.isTyped) validateLiterals(checked, issues);
    if (issues.count > 0) throw new CelCompileError(`compilation failed: ${issues.format()}`, issues.list());
    const type = checked.typeOf(expr);
    requireType(type, options.resultType);
    return this.#program(checked, type);
  }

  #program(checked: Checked, type: CelType): CelProgram {
    const planner = new Planner(checked);
    const plan = planner.plan(checked.expr);
    if (planner.problem !== undefined) throw new CelCompileError(`program instantiation failed: ${planner.problem}`);
    const decls = this.#decls;
    const estimate = (): CostEstimate => estimateCost(checked, decls);
    const names = Array.from(checked.names.values(), ({ name }) => name);
    return new Program({
      plan,
      slots: planner.slotCount,
      readers: this.#readers,
      resultType: formatType(type),
      variables: new Set(names.filter((name) => this.#readers.has(name))),
      estimate,
    });
  }
}

function requireType(type: CelType, expected: string | readonly string[] | undefined): void {
  if (expected === undefined) return;
  const names = typeof expected === 'string' ? [expected] : expected;
  if (names.includes(formatType(type)) || names.includes(type.name)) return;
  const shown = names.map((name) => (name === 'null' ? 'null_type' : name));
  const wanted = shown.length === 1 ? (shown[0] ?? '') : `one of [${shown.join(' ')}]`;
  const text = `must evaluate to ${wanted} but got ${type.kind === 'null' ? 'null_type' : formatType(type)}`;
  throw new CelCompileError(text);
}

/**
 * Creates an environment, which defines the variables and libraries that expressions may use.
 *
 * @throws TypeError for a variable whose type is not a CEL type.
 *
 * @example
 * ```ts
 * import { createCelEnvironment } from '@kctl/cel';
 *
 * const environment = createCelEnvironment({ variables: { object: 'dyn', request: 'dyn' } });
 * const program = environment.compile('object.spec.replicas <= 5', { resultType: 'bool' });
 * program.evaluate({ object: { spec: { replicas: 3 } } }).value; // true
 * ```
 */
export function createCelEnvironment(options: CelEnvironmentOptions = {}): CelEnvironment {
  requireOptions('createCelEnvironment', options, environmentOptions);
  return new Environment(baseOf(options), options.variables ?? {});
}
