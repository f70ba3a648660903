import {
  defineKind,
  type Kind,
  type KindScope,
  type KindWithInput,
  type KubeObject,
  type ObjectMeta,
  type UntypedObject,
} from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { requireOptions, shownType } from '@kctl/options';
import { isObject, stringOf, type JsonObject } from '../engine/values/json.js';
import type { SchemaInput, SchemaOutput } from '../source/schema-value.js';
import type { Report } from '../structural/report.js';
import { ResourceDefinitionError } from '../structural/definition-error.js';
import { buildManifest } from './manifest.js';
import { unreadableOptions } from './option-problems.js';
import type { ResourceOptions, VersionOptions } from './options.js';
import { LocalValidator, validateOptionNames, type ValidateOptions, type Validation } from './validation.js';
import { crdYaml } from './yaml.js';

type Flat<T> = { [K in keyof T]: T[K] };

type Part<V, Name extends string, Value> = V extends Readonly<Record<Name, unknown>> ? Value : unknown;

/** The fields of an object beside its type and metadata, as its schemas give them. */
type Content<V extends VersionOptions, Spec, Status, Whole> = Omit<Part<V, 'schema', Whole>, keyof KubeObject> &
  Part<V, 'spec', { spec: Spec }> &
  Part<V, 'status', { status?: Status }>;

/** An object of a version as the API server stores it, with defaults. */
export type VersionObject<V extends VersionOptions> = KubeObject &
  Flat<Content<V, SchemaOutput<V['spec']>, SchemaOutput<V['status']>, SchemaOutput<V['schema']>>>;

/** An object of a version as a manifest contains it; fields with a default may be omitted. */
export type VersionInput<V extends VersionOptions> = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
} & Flat<Content<V, SchemaInput<V['spec']>, SchemaInput<V['status']>, SchemaInput<V['schema']>>>;

type Versions = Readonly<Record<string, VersionOptions>>;

/** Names of the versions that the definition has. */
type Written<V extends Versions> = {
  [K in keyof V]: V[K] extends { readonly skip: true } ? never : K;
}[keyof V];

type Marked<V extends Versions> = {
  [K in keyof V]: V[K] extends { readonly storage: true } ? K : never;
}[keyof V];

/** The name of the storage version, which is the one marked as such, or the only one. */
type StorageVersion<V extends Versions> = [Marked<V>] extends [never] ? Written<V> : Marked<V>;

/** One version of a resource as a kind token, with validation. */
export interface ResourceVersion<T extends KubeObject, Input, S extends KindScope>
  extends Kind<T, S>,
    KindWithInput<Input> {
  /**
   * Validates an object as the API server would, with pruning, defaults, the schema, and CEL rules with their costs.
   * Same verdict, same messages, same paths.
   */
  readonly validate: (object: Input, options?: ValidateOptions) => Validation<T>;
  /**
   * An object of this version with its type and defaults.
   *
   * @throws TypeError with the API server's message when it is not valid
   */
  readonly create: (object: Input) => T;
}

/** A custom resource with the kind of its storage version, its other versions, and its CustomResourceDefinition. */
export interface Resource<V extends Versions = Versions, S extends KindScope = KindScope>
  extends ResourceVersion<VersionObject<V[StorageVersion<V>]>, VersionInput<V[StorageVersion<V>]>, S> {
  readonly versions: { readonly [K in keyof V]: ResourceVersion<VersionObject<V[K]>, VersionInput<V[K]>, S> };
  /** The CustomResourceDefinition, properties in alphabetical order. */
  readonly manifest: CustomResourceDefinition;
  /**
   * Warnings about valid but misleading parts, such as formats that the API server does not check, and keywords that
   * are left out.
   */
  readonly warnings: readonly string[];
  /** The CustomResourceDefinition as YAML, identical on every run. */
  readonly toYaml: () => string;
}

function namesOf(options: ResourceOptions<Versions, KindScope>, plural: string): Parameters<typeof buildManifest>[1] {
  const { kind, singular = kind.toLowerCase(), listKind = `${kind}List` } = options;
  return { plural, singular, kind, listKind };
}

function versionOf(
  kind: Kind<UntypedObject>,
  versions: readonly JsonObject[],
): ResourceVersion<UntypedObject, object, KindScope> {
  let validator: LocalValidator | undefined;
  const version = versions.find(({ name }) => name === kind.version) ?? {};
  const validate = (object: object, options: ValidateOptions = {}): Validation<UntypedObject> => {
    requireOptions('validate', options, validateOptionNames);
    // Compiled with the first object, so a resource that is only watched costs nothing.
    validator ??= new LocalValidator({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      namespaced: kind.scope === 'Namespaced',
      version,
    });
    return validator.validate(object, options);
  };
  return {
    ...kind,
    validate,
    create(source) {
      const { object, message } = validate(source);
      if (message !== '') throw new TypeError(`${kind.kind} is not valid: ${message}`);
      const metadata: unknown = Reflect.get(source, 'metadata');
      // The namespace and name that validation assumes are for the caller, or the server, to give.
      object.metadata = isObject(metadata) ? { ...metadata } : {};
      const status: unknown = Reflect.get(source, 'status');
      return status === undefined ? object : { ...object, status };
    },
  };
}

/**
 * Defines a custom resource by the schemas of its versions. The result is a kind token, to be given to a client, a
 * cache or a builder; its `manifest` is the CustomResourceDefinition; `validate` validates as the API server would.
 *
 * Schemas are those of any Standard JSON Schema library (zod 4.2, ArkType 2.1.28, Valibot through
 * `@valibot/to-json-schema`, Effect Schema), or plain JSON Schema by `fromJsonSchema`.
 *
 * @example
 * const Website = defineResource({
 *   group: 'shop.example.com',
 *   kind: 'Website',
 *   versions: { v1: { spec: z.object({ image: z.string(), replicas: z.int32().min(1).default(1) }) } },
 * });
 * @throws ResourceDefinitionError naming each field that cannot be expressed in a structural schema or that the API
 * server would reject, and each unknown option, with what to write instead
 */
export function defineResource<const V extends Versions, const S extends KindScope = 'Namespaced'>(
  options: ResourceOptions<V, S>,
): Resource<V, S>;
export function defineResource(options: ResourceOptions<Versions, KindScope>): object {
  if (!isObject(options)) throw new TypeError(`defineResource: expected options, not ${shownType(options)}`);
  const { group, kind, scope = 'Namespaced' } = options;
  const label = `${kind}.${group}`;
  const unreadable = unreadableOptions(options);
  if (unreadable.length > 0) throw new ResourceDefinitionError(label, unreadable);
  const names = Object.keys(options.versions);
  const fail = (field: string, value: unknown, problem: string, remedy: string): never => {
    throw new ResourceDefinitionError(label, [{ field, value, problem, remedy }]);
  };
  if (names.length === 0) fail('versions', {}, 'there is no version', 'give one: versions: { v1: { spec: … } }');
  for (const [name, { spec, schema }] of Object.entries(options.versions)) {
    if (spec !== undefined && schema !== undefined) {
      fail(
        `${name} schema`,
        undefined,
        'there is a spec beside it',
        'give spec and status, or schema for the whole object',
      );
    }
  }
  const kinds = names.map((version) =>
    defineKind()({
      group,
      version,
      kind,
      scope,
      ...(options.plural !== undefined && { plural: options.plural }),
    }),
  );
  const report: Report = { problems: [], warnings: [] };
  const { manifest, versions: entries } = buildManifest(options, namesOf(options, kinds[0]?.plural ?? ''), report);
  if (report.problems.length > 0) throw new ResourceDefinitionError(label, report.problems);
  const versions = Object.fromEntries(kinds.map((each) => [each.version, versionOf(each, entries)]));
  const storage = stringOf(entries.find((entry) => entry['storage'] === true)?.['name']);
  return { ...versions[storage], versions, manifest, warnings: report.warnings, toYaml: () => crdYaml(manifest) };
}
