import type { UntypedObject } from '@kctl/apimachinery';
import type { StructuralSchema } from '@kctl/cel';
import { messageOf } from '@kctl/telemetry/internal';
import {
  applyDefaults,
  cloneJson,
  compareText,
  compileJsonPath,
  CustomResourceValidator,
  dropNulls,
  equalJson,
  isObject,
  jsonText,
  objectMetaStruct,
  objectsOf,
  pruneUnknown,
  stringOf,
  type CrdNames,
  type FieldError,
  type JsonObject,
  type JsonPath,
  type RuleOutlet,
  type ScalePaths,
  type Schema,
} from '@kctl/crd/internal/engine';
import { cannotBeHandled, requireApiVersion, requireObject, requireTypeMeta } from '../resource/decode-head.js';
import {
  admittedMetadata,
  dropUnread,
  hasUnread,
  keepLists,
  requireReadable,
  withoutUnread,
} from '../registry/unread-metadata.js';
import { unclassified } from '../protocol/status.js';
import { requireFloats } from '../resource/number-literals.js';
import type {
  Decoded,
  DecodeInput,
  ObjectConversion,
  ResourceDefinition,
  SlowReading,
  StoredState,
  Subresource,
  Verb,
  WriteContext,
} from '../resource/resource.js';
import type { ReadState } from '../long-reads/long-reader.js';
import type { Atom } from '../managed-fields/atom.js';
import { structAtom } from '../managed-fields/go-atom.js';
import { customAtom } from '../managed-fields/schema-atom.js';
import { customIgnored } from '../managed-fields/typing.js';
import { bumpGeneration, prepareMetadataForCreate, prepareMetadataForUpdate } from '../registry/update-metadata.js';
import { isLongText, longBodyOf } from '../storage/long-object.js';
import type { CustomColumns } from '../table/custom-columns.js';
import { customResourceScale } from './custom-resource-scale.js';
import { createObjectConversion, type ConversionCaller } from './conversion/webhook-conversion.js';

/** The schemas of all versions of a CustomResourceDefinition, by apiVersion. */
export interface VersionSchemaTable {
  get(apiVersion: string): Schema | undefined;
  has(apiVersion: string): boolean;
}

/** One served version of a CustomResourceDefinition; schemas are compiled on first use. */
export interface CustomResourceFacts {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly names: CrdNames;
  readonly namespaced: boolean;
  readonly storageKey: string;
  readonly storageApiVersion: string;
  readonly schema: Schema;
  /** The same schema as CEL reads it. */
  readonly structural: StructuralSchema;
  /** The schema of the storage version. */
  readonly storageSchema: Schema;
  /** The schemas of all versions, served or not, by apiVersion, because objects may be stored in any of them. */
  readonly schemas: VersionSchemaTable;
  /** The versions that are not served. */
  readonly unserved: readonly ResourceDefinition[];
  /** Whether its rules or defaults are so many that each object takes long. */
  readonly isHeavy: boolean;
  /** Calls the conversion webhook, if there is one. */
  readonly converter: ConversionCaller | undefined;
  /** Reads stored objects in another thread, if there is one. */
  readonly readElsewhere: ((states: readonly StoredState[]) => Promise<readonly ReadState[]>) | undefined;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly selectableFields: unknown;
  readonly deprecationWarning: string | undefined;
  readonly table: CustomColumns;
}

const allVerbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update'];
/** Go's `fmt.Sprint` of a JSON scalar. */
function printScalar(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value);
}

/**
 * Identity shared by states of an object that differ in their metadata alone. If the server prepared it, it needs no
 * second look.
 */
function contentOf(object: UntypedObject): object {
  return longBodyOf(object)?.identity ?? object;
}

/** @throws StatusError 500 if a plugin has produced malformed metadata */
function requireStorable(object: UntypedObject): void {
  try {
    requireReadable(object);
  } catch (error) {
    throw unclassified(messageOf(error).replace('ObjectMeta.metadata.', 'ObjectMeta.'));
  }
}

function outletOf({ warn, rules }: WriteContext): RuleOutlet {
  return { warn: (warning) => warn(warning), ...(rules !== undefined && { evaluate: (run) => rules.evaluate(run) }) };
}

/** Everything about custom resources that does not depend on the handler. One instance serves one version. */
class CustomResource {
  readonly #facts: CustomResourceFacts;
  readonly #selectable: ReadonlyMap<string, JsonPath>;
  /** Stored objects that this definition wrote itself, which need no second look. */
  readonly #clean = new WeakSet<object>();
  /** Fields for selectors, of objects that another thread has read. */
  readonly #fields = new WeakMap<object, Readonly<Record<string, string>>>();
  /** Objects made by a plugin or an apply. Their stored parts are read as they would be from the storage. */
  #hasStatusDefaults: boolean | undefined;
  readonly #admitted = new WeakSet<UntypedObject>();
  readonly #read = new WeakMap<UntypedObject, UntypedObject>();
  readonly #validator: CustomResourceValidator;

  constructor(facts: CustomResourceFacts) {
    this.#facts = facts;
    const { names, apiVersion, namespaced, scale } = facts;
    this.#validator = new CustomResourceValidator({
      kind: names.kind,
      apiVersion,
      namespaced,
      scale,
      get schema() {
        return facts.schema;
      },
      get structural() {
        return facts.structural;
      },
    });
    const paths = objectsOf(facts.selectableFields).map(({ jsonPath }) => stringOf(jsonPath));
    this.#selectable = new Map(paths.map((path) => [path.replace(/^\./, ''), compileJsonPath(path)]));
  }

  get selectableFields(): string[] {
    return [...this.#selectable.keys()];
  }

  decode(input: DecodeInput): Decoded {
    const { group, version, apiVersion, names } = this.#facts;
    const expected = { group, version, apiVersion, kind: names.kind };
    const body = requireObject(input, expected);
    requireTypeMeta(input, body, expected);
    requireApiVersion(body, expected);
    const found: string[] = [];
    let object: UntypedObject;
    try {
      requireFloats(input.literals ?? []);
      object = this.#validator.normalize(body, found);
    } catch (error) {
      // Upstream decodes the metadata by itself, so its errors do not name the field that holds it.
      const reason = messageOf(error).replace('ObjectMeta.metadata.', 'ObjectMeta.');
      throw cannotBeHandled(expected, stringOf(body['kind']), reason);
    }
    // The metadata is decoded by itself, before the rest.
    const isMetadata = (path: string): number => (path.startsWith('metadata.') ? 0 : 1);
    found.sort((a, b) => isMetadata(a) - isMetadata(b) || compareText(a, b));
    return { object, problems: found.map((path) => `unknown field "${path}"`) };
  }

  decodeAdmitted(value: JsonObject, onDecoded?: (value: JsonObject) => void): UntypedObject {
    const { schema, names } = this.#facts;
    if (stringOf(value['kind']) === '') throw new TypeError(`Object 'Kind' is missing in '${jsonText(value)}'`);
    onDecoded?.(value);
    if (value['kind'] === names.kind) applyDefaults(value, schema);
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    return Object.assign(value, { metadata: admittedMetadata(metadata) });
  }

  noteAdmitted(object: UntypedObject): void {
    if (this.#facts.apiVersion === this.#facts.storageApiVersion) keepLists(object);
    this.#admitted.add(object);
  }

  toStorage(object: UntypedObject): UntypedObject {
    const { apiVersion, storageApiVersion } = this.#facts;
    if (apiVersion === storageApiVersion) {
      if (!this.#admitted.has(object) && !this.#lacksStatus(object)) this.#clean.add(contentOf(object));
      return object;
    }
    // Fields unknown to the storage version are lost.
    const converted = { ...cloneJson(object), apiVersion: storageApiVersion };
    requireStorable(converted);
    dropNulls(converted, this.#facts.storageSchema);
    pruneUnknown(converted, this.#facts.storageSchema, []);
    return converted;
  }

  /** Whether a status that was taken off has defaults, with which it is read. */
  #lacksStatus(object: UntypedObject): boolean {
    if (!this.#facts.hasStatus || object['status'] !== undefined) return false;
    if (this.#hasStatusDefaults === undefined) {
      const empty: JsonObject = {};
      applyDefaults(empty, this.#facts.schema);
      this.#hasStatusDefaults = empty['status'] !== undefined;
    }
    return this.#hasStatusDefaults;
  }

  /** A copy of a stored object, pruned and defaulted by the version that it was stored in. */
  #readStored(stored: UntypedObject): UntypedObject {
    const facts = this.#facts;
    this.requireKnownVersion(stored);
    const schema = facts.schemas.get(stored.apiVersion ?? '') ?? facts.storageSchema;
    const object = cloneJson(stored);
    dropUnread(object);
    dropNulls(object, schema);
    applyDefaults(object, schema);
    pruneUnknown(object, schema, []);
    return object;
  }

  requireKnownVersion({ apiVersion }: UntypedObject): void {
    if (apiVersion === undefined || this.#facts.schemas.has(apiVersion)) return;
    throw unclassified(`request to convert CR from an invalid group/version: ${apiVersion}`);
  }

  #isClean(stored: UntypedObject): boolean {
    return this.#clean.has(contentOf(stored)) && !hasUnread(stored);
  }

  /** Reads as the version that it was stored in, then converts, then prunes, in upstream's order. */
  fromStorage(stored: UntypedObject): UntypedObject {
    if (this.#isClean(stored)) return stored;
    const known = this.#read.get(stored);
    if (known !== undefined) return known;
    const { apiVersion } = this.#facts;
    const object = this.#readStored(stored);
    if (apiVersion !== stored.apiVersion) {
      object.apiVersion = apiVersion;
      pruneUnknown(object, this.#facts.schema, []);
    }
    const result = equalJson(object, stored) ? stored : object;
    if (result === stored) this.#clean.add(contentOf(stored));
    else this.#read.set(stored, result);
    return result;
  }

  /** Whether a selector would have to read a long object. */
  #hasUnreadFields(object: UntypedObject): boolean {
    if (this.#selectable.size === 0 || longBodyOf(object)?.isRead !== false) return false;
    return !this.#fields.has(contentOf(object));
  }

  /** Reading in another thread, if there is one. */
  slowReading(): SlowReading | undefined {
    const { readElsewhere, isHeavy } = this.#facts;
    return (
      readElsewhere && {
        isSlow: (state, shown = this.#isClean(state.object) ? state.object : undefined) => {
          if (shown !== undefined && !this.#hasUnreadFields(shown)) return false;
          return isHeavy || isLongText({ length: state.textLength });
        },
        read: async (states) => {
          const read = await readElsewhere(states);
          for (const [index, { object: stored }] of states.entries()) {
            const { object, fields } = read[index] ?? {};
            if (object === undefined) this.#clean.add(contentOf(stored));
            if (fields !== undefined) this.#fields.set(contentOf(object ?? stored), fields);
          }
          return read.map(({ object }) => object);
        },
      }
    );
  }

  /** Conversion by webhook, if the definition has one. */
  conversion(): ObjectConversion | undefined {
    const facts = this.#facts;
    const { converter, apiVersion, storageApiVersion } = facts;
    if (converter === undefined) return undefined;
    const pruned = (object: UntypedObject, by: Schema): UntypedObject => {
      requireStorable(object);
      dropNulls(object, by);
      pruneUnknown(object, by, []);
      return object;
    };
    return createObjectConversion(converter, {
      apiVersion,
      storageApiVersion,
      read: (stored) => this.#readStored(stored),
      prune: (object) => pruned(object, facts.schema),
      pruneForStorage: (object) => pruned(object, facts.storageSchema),
    });
  }

  prepareForCreate(object: UntypedObject): void {
    prepareMetadataForCreate(object);
    if (this.#facts.hasStatus) delete object['status'];
    object.metadata.generation = 1;
  }

  prepareForUpdate(object: UntypedObject, old: UntypedObject): void {
    prepareMetadataForUpdate(object, old);
    if (this.#facts.hasStatus) {
      if (old['status'] === undefined) delete object['status'];
      else object['status'] = old['status'];
    }
    const { metadata: _new, ...content } = object;
    const { metadata: _old, ...before } = old;
    if (!equalJson(content, before)) bumpGeneration(object, old);
  }

  prepareForStatusUpdate(object: UntypedObject, old: UntypedObject): void {
    const { status } = object;
    const { managedFields, resourceVersion } = object.metadata;
    for (const name of Object.keys(object)) delete object[name];
    const { status: _old, ...rest } = cloneJson(old);
    Object.assign(object, rest);
    if (managedFields === undefined) delete object.metadata.managedFields;
    else object.metadata.managedFields = managedFields;
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    if (status !== undefined) object['status'] = status;
  }

  validateCreate(object: UntypedObject, context: WriteContext): FieldError[] {
    return this.#validator.validateCreate(withoutUnread(object), outletOf(context));
  }

  validateUpdate(object: UntypedObject, old: UntypedObject, context: WriteContext): FieldError[] {
    return this.#validator.validateUpdate(withoutUnread(object), old, outletOf(context));
  }

  validateStatusUpdate(object: UntypedObject, old: UntypedObject, context: WriteContext): FieldError[] {
    return this.#validator.validateStatusUpdate(withoutUnread(object), old, outletOf(context));
  }

  fieldsOf(object: UntypedObject): Record<string, string> {
    const fields: Record<string, string> = { 'metadata.name': object.metadata.name ?? '' };
    if (this.#facts.namespaced) fields['metadata.namespace'] = object.metadata.namespace ?? '';
    const known = this.#fields.get(contentOf(object));
    for (const [name, path] of this.#selectable) {
      if (known !== undefined) {
        fields[name] = known[name] ?? '';
        continue;
      }
      const value = path(object)[0];
      fields[name] = value === undefined || value === null ? '' : printScalar(value);
    }
    return fields;
  }
}

/** The definition of one served version of a CustomResourceDefinition. */
export function createCustomResource(facts: CustomResourceFacts): ResourceDefinition {
  const { names, table } = facts;
  const resource = new CustomResource(facts);
  const subresources = new Map<string, Subresource>();
  if (facts.hasStatus) {
    const update = {
      prepareForUpdate: resource.prepareForStatusUpdate.bind(resource),
      validateUpdate: resource.validateStatusUpdate.bind(resource),
    };
    subresources.set('status', { type: 'self', name: 'status', verbs: subresourceVerbs, update });
  }
  if (facts.scale !== undefined) {
    const view = customResourceScale(facts.scale);
    subresources.set('scale', { type: 'view', name: 'scale', verbs: subresourceVerbs, view });
  }
  const conversion = resource.conversion();
  const slowReading = resource.slowReading();
  let atom: Atom | undefined;
  return {
    group: facts.group,
    version: facts.version,
    apiVersion: facts.apiVersion,
    ...names,
    namespaced: facts.namespaced,
    verbs: allVerbs,
    subresources,
    isCustom: true,
    isStored: true,
    ...(facts.deprecationWarning === undefined ? {} : { deprecationWarning: facts.deprecationWarning }),
    storageKey: facts.storageKey,
    storageApiVersion: facts.storageApiVersion,
    toStorage: resource.toStorage.bind(resource),
    fromStorage: resource.fromStorage.bind(resource),
    requireKnownVersion: resource.requireKnownVersion.bind(resource),
    ...(conversion !== undefined && { conversion }),
    ...(slowReading !== undefined && { slowReading }),
    isHeavy: facts.isHeavy,
    get unserved() {
      return facts.unserved;
    },
    fieldTyping: {
      get atom() {
        return (atom ??= customAtom(facts.schema, structAtom(objectMetaStruct())));
      },
      empty: () => ({ apiVersion: facts.apiVersion, kind: names.kind, metadata: {} }),
      ignored: (subresource) => customIgnored(facts.hasStatus, subresource),
    },
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    gracePeriodSeconds: () => 0,
    decode: resource.decode.bind(resource),
    decodeAdmitted: resource.decodeAdmitted.bind(resource),
    noteAdmitted: resource.noteAdmitted.bind(resource),
    prepareForCreate: resource.prepareForCreate.bind(resource),
    validateCreate: resource.validateCreate.bind(resource),
    prepareForUpdate: resource.prepareForUpdate.bind(resource),
    validateUpdate: resource.validateUpdate.bind(resource),
    deletionForbidden: () => undefined,
    selectableFields: resource.selectableFields,
    fieldsOf: resource.fieldsOf.bind(resource),
    fieldLabelError: (label) => `field label not supported: ${label}`,
    columns: table.columns,
    columnSource: { source: table.source },
    cells: (object, now) => table.cells(object, now),
  };
}
