import {
  createCelEnvironment,
  structuralSchema,
  type CelEnvironment,
  type CelProgram,
  type CelVariable,
  type StructuralSchema,
} from '@kctl/cel';
import { jsonPatchLibrary, parseType, type CelType, type TypeProvider } from '@kctl/cel/internal';
import { messageOf } from '@kctl/telemetry/internal';
import { objectsOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const textMap = { type: 'object', additionalProperties: text };
const object = (properties: object): object => ({ type: 'object', properties });
const groupVersion = { group: text, version: text };

function withDynamic(schema: StructuralSchema, name: string): StructuralSchema {
  return { ...schema, properties: new Map(schema.properties).set(name, { dynamic: true }) };
}

/** `request`: the AdmissionRequest without its objects. */
const requestSchema: StructuralSchema = withDynamic(
  structuralSchema(
    object({
      kind: object({ ...groupVersion, kind: text }),
      resource: object({ ...groupVersion, resource: text }),
      subResource: text,
      requestKind: object({ ...groupVersion, kind: text }),
      requestResource: object({ ...groupVersion, resource: text }),
      requestSubResource: text,
      name: text,
      namespace: text,
      operation: text,
      userInfo: object({
        username: text,
        uid: text,
        groups: texts,
        extra: { type: 'object', additionalProperties: texts },
      }),
      dryRun: { type: 'boolean' },
    }),
  ),
  'options',
);

/** `namespaceObject`: what of a Namespace expressions may see. */
const namespaceSchema: StructuralSchema = structuralSchema({
  nullable: true,
  ...object({
    metadata: object({
      name: text,
      generateName: text,
      namespace: text,
      labels: textMap,
      annotations: textMap,
      UID: text,
      creationTimestamp: { ...text, format: 'date-time' },
      deletionGracePeriodSeconds: { type: 'integer' },
      deletionTimestamp: { ...text, format: 'date-time' },
      generation: { type: 'integer' },
      resourceVersion: text,
      finalizers: texts,
    }),
    spec: object({ finalizers: texts }),
    status: object({ phase: text }),
  }),
});

const variablesType = 'kubernetes.variables';
const objectType = /^Object(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const patchFields: ReadonlyMap<string, string> = new Map([
  ['op', 'string'],
  ['path', 'string'],
  ['from', 'string'],
  ['value', 'dyn'],
]);

/** An expression of a policy, either compiled or with the reason for the failure. */
export interface CompiledExpression {
  readonly text: string;
  readonly program?: CelProgram;
  readonly problem?: string;
}

/** Features that the expressions of one policy may use. */
export interface PolicyEnvironmentOptions {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether `Object{…}` and `JSONPatch{…}` can be made. */
  readonly canPatch: boolean;
  /** The Kubernetes version whose libraries are there; all of them without one. */
  readonly version?: string;
}

/** Compiles the expressions of one policy. Variables become visible to what is compiled after them. */
export class PolicyEnvironment {
  readonly #withAuthorizer: CelEnvironment;
  readonly #without: CelEnvironment;
  readonly #variables = new Map<string, CompiledExpression>();

  constructor(options: PolicyEnvironmentOptions) {
    const variables: Record<string, CelVariable> = {
      object: 'dyn',
      oldObject: 'dyn',
      request: { schema: requestSchema },
      namespaceObject: { schema: namespaceSchema },
      variables: variablesType,
      ...(options.hasParams && { params: 'dyn' }),
    };
    this.#without = createCelEnvironment({
      variables,
      objectTypes: this.#types(options.canPatch),
      ...(options.version !== undefined && { version: options.version }),
      ...(options.canPatch && { functions: jsonPatchLibrary }),
    });
    this.#withAuthorizer = options.hasAuthorizer
      ? this.#without.extend({
          authorizer: 'kubernetes.authorization.Authorizer',
          'authorizer.requestResource': 'kubernetes.authorization.ResourceCheck',
        })
      : this.#without;
  }

  #types(canPatch: boolean): TypeProvider {
    return {
      isStruct: (name) => name === variablesType || (canPatch && (name === 'JSONPatch' || objectType.test(name))),
      fieldType: (name, field) => this.#fieldType(name, field, canPatch),
    };
  }

  #fieldType(name: string, field: string, canPatch: boolean): CelType | undefined {
    if (name === variablesType) {
      const variable = this.#variables.get(field);
      return variable === undefined ? undefined : parseType(variable.program?.resultType ?? 'dyn');
    }
    if (!canPatch) return undefined;
    if (name !== 'JSONPatch') return parseType('dyn');
    const type = patchFields.get(field);
    return type === undefined ? undefined : parseType(type);
  }

  /** The variables that have been compiled, by name. */
  get variables(): ReadonlyMap<string, CompiledExpression> {
    return this.#variables;
  }

  /** Compiles an expression that may query the authorizer. */
  compile(text: string, resultType?: string | readonly string[]): CompiledExpression {
    return compileIn(this.#withAuthorizer, text, resultType);
  }

  /** Compiles the expression of a message or an audit annotation, which may not. */
  compileText(text: string, resultType?: string | readonly string[]): CompiledExpression {
    return compileIn(this.#without, text, resultType);
  }

  /** Compiles variables in order; each may use those before it. */
  declare(variables: unknown): void {
    for (const variable of objectsOf(variables)) {
      const name = stringOf(variable['name']);
      this.#variables.set(name, this.compile(stringOf(variable['expression'])));
    }
  }
}

function compileIn(
  environment: CelEnvironment,
  text: string,
  resultType?: string | readonly string[],
): CompiledExpression {
  try {
    return { text, program: environment.compile(text, resultType === undefined ? {} : { resultType }) };
  } catch (error) {
    return { text, problem: messageOf(error) };
  }
}

/** The environment of a policy with its variables. */
export function policyEnvironment(spec: JsonObject, canPatch: boolean, version?: string): PolicyEnvironment {
  const environment = new PolicyEnvironment({
    hasParams: spec['paramKind'] !== undefined && spec['paramKind'] !== null,
    hasAuthorizer: true,
    canPatch,
    ...(version !== undefined && { version }),
  });
  environment.declare(spec['variables']);
  return environment;
}
