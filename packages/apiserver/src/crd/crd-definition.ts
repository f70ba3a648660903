import { type UntypedObject } from '@kctl/apimachinery';
import { compareVersions } from '@kctl/apimachinery/internal';
import { structuralSchema, type StructuralSchema } from '@kctl/cel';
import {
  at,
  compileSchema,
  crdGroup,
  crdStorageKey,
  crdStorageVersion,
  crdVersions,
  isObject,
  objectOf,
  readNames,
  readScalePaths,
  schemaWeight,
  stringOf,
  type JsonObject,
  type Schema,
} from '@kctl/crd/internal/engine';
import { createCustomResource, type CustomResourceFacts, type VersionSchemaTable } from './custom-resource.js';
import { conversionCallerOf } from './conversion/webhook-conversion.js';
import type { LongReader } from '../long-reads/long-reader.js';
import { objectText } from '../storage/long-object.js';
import type { WebhookCaller } from '../outgoing/webhook-caller.js';
import type { ResourceDefinition } from '../resource/resource.js';
import { customColumns } from '../table/custom-columns.js';

/** The warning of a deprecated version, with the newest served version that is not deprecated and comes after it. */
function deprecationOf(crd: UntypedObject, version: JsonObject, kind: string): string | undefined {
  if (version['deprecated'] !== true) return undefined;
  const text = stringOf(version['deprecationWarning']);
  if (text !== '') return text;
  const typeOf = (name: string): string => `${crdGroup(crd)}/${name} ${kind}`;
  const name = stringOf(version['name']);
  const [newest] = crdVersions(crd)
    .filter((other) => other['served'] === true && other['deprecated'] !== true)
    .map((other) => stringOf(other['name']))
    .filter((other) => compareVersions(other, name) > 0)
    .sort((a, b) => compareVersions(b, a));
  return `${typeOf(name)} is deprecated${newest === undefined ? '' : `; use ${typeOf(newest)}`}`;
}

/**
 * Beyond this many rules or defaults another thread writes all objects, since compiling or filling in 1,000 takes about
 * 40 ms.
 */
const maxRules = 200;
const maxDefaults = 500;

function isHeavy(source: JsonObject): boolean {
  const { rules, defaults } = schemaWeight(source);
  return rules > maxRules || defaults > maxDefaults;
}

/** Makes a value on first use, and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The schemas of all versions. A definition may have ten of 1 MB, of which clients use one. */
class VersionSchemas implements VersionSchemaTable {
  readonly #sources: ReadonlyMap<string, JsonObject>;
  readonly #compile: (source: JsonObject) => Schema;
  readonly #compiled = new Map<string, Schema>();

  constructor(sources: ReadonlyMap<string, JsonObject>, compile: (source: JsonObject) => Schema) {
    this.#sources = sources;
    this.#compile = compile;
  }

  get apiVersions(): ReadonlySet<string> {
    return new Set(this.#sources.keys());
  }

  has(apiVersion: string): boolean {
    return this.#sources.has(apiVersion);
  }

  get(apiVersion: string): Schema | undefined {
    const known = this.#compiled.get(apiVersion);
    const source = this.#sources.get(apiVersion);
    if (known !== undefined || source === undefined) return known;
    const schema = this.#compile(source);
    this.#compiled.set(apiVersion, schema);
    return schema;
  }
}

/** Parts of the server that definitions use. */
export interface CrdOutlets {
  /** @default conversion webhooks are not called */
  readonly webhookCaller?: WebhookCaller | undefined;
  /** @default long objects are read at once */
  readonly longReader?: LongReader | undefined;
}

/**
 * The served versions of a CustomResourceDefinition as definitions. Names are the accepted ones if the naming
 * controller has run, else those of the spec.
 */
export function definitionsOfCrd(
  crd: UntypedObject,
  { webhookCaller: caller, longReader }: CrdOutlets = {},
): ResourceDefinition[] {
  const group = crdGroup(crd);
  const accepted = at(crd, 'status', 'acceptedNames');
  const spec = readNames(at(crd, 'spec', 'names'));
  const names = isObject(accepted) && stringOf(accepted['plural']) !== '' ? readNames(accepted) : spec;
  const storageName = crdStorageVersion(crd);
  const storageApiVersion = `${group}/${storageName}`;
  const isOpen = at(crd, 'spec', 'preserveUnknownFields') === true;
  const sourceOf = (version: JsonObject): JsonObject => objectOf(at(version, 'schema', 'openAPIV3Schema'));
  const compile = (source: JsonObject): Schema =>
    compileSchema(isOpen ? { ...source, 'x-kubernetes-preserve-unknown-fields': true } : source);
  const schemas = new VersionSchemas(
    new Map(crdVersions(crd).map((version) => [`${group}/${stringOf(version['name'])}`, sourceOf(version)])),
    compile,
  );
  const openSchema = once(() => compile({}));
  const schemaOf = (apiVersion: string): Schema => schemas.get(apiVersion) ?? openSchema();
  const converter = conversionCallerOf(crd, caller, schemas.apiVersions);
  const text = once(() => ({ name: `${spec.plural}.${group}`, text: objectText(crd) }));
  const isServed = (version: JsonObject): boolean => version['served'] === true;
  const unserved = once((): ResourceDefinition[] =>
    crdVersions(crd)
      .filter((version) => !isServed(version))
      .map((version) => define(version)),
  );
  const define = (version: JsonObject): ResourceDefinition => {
    const name = stringOf(version['name']);
    const apiVersion = `${group}/${name}`;
    const source = sourceOf(version);
    const structural = once((): StructuralSchema => structuralSchema(source));
    const facts: CustomResourceFacts = {
      group,
      version: name,
      apiVersion,
      names: { ...names, kind: spec.kind, plural: spec.plural },
      namespaced: at(crd, 'spec', 'scope') === 'Namespaced',
      storageKey: crdStorageKey(crd),
      storageApiVersion,
      get schema() {
        return schemaOf(apiVersion);
      },
      get structural() {
        return structural();
      },
      get storageSchema() {
        return schemaOf(storageApiVersion);
      },
      schemas,
      get unserved() {
        return unserved();
      },
      isHeavy: isHeavy(source),
      converter,
      readElsewhere: longReader && ((states) => longReader.read(text(), name, states)),
      hasStatus: isObject(at(version, 'subresources', 'status')),
      scale: readScalePaths(at(version, 'subresources', 'scale')),
      selectableFields: version['selectableFields'],
      deprecationWarning: deprecationOf(crd, version, spec.kind),
      table: customColumns(version['additionalPrinterColumns']),
    };
    return createCustomResource(facts);
  };
  return crdVersions(crd).filter(isServed).map(define);
}
