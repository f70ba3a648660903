import type { UntypedObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import {
  decodeStruct,
  equalSemantic,
  hasEmptyOwners,
  isObject,
  stringOf,
  subdomainName,
  validateBuiltinFinalizers,
  validateMetadata,
  validateMetadataUpdate,
  validatePathSafety,
  zeroStruct,
  type FieldError,
  type JsonObject,
  goQuoted,
} from '@kctl/crd/internal/engine';
import { isBuiltinKind, type BuiltinKind, type BuiltinSubresource } from '../resource/builtin-table.js';
import {
  cannotBeHandled,
  internalGroup,
  requireApiVersion,
  requireObject,
  unknownFields,
  type ExpectedType,
} from '../resource/decode-head.js';
import type { GenerationRule, KindStrategy } from './kind-strategy.js';
import type { Decoded, DecodeInput, ResourceDefinition, Subresource, UpdateStrategy } from '../resource/resource.js';
import { bumpGeneration, prepareMetadataForCreate, prepareMetadataForUpdate } from './update-metadata.js';
import { builtinDefaulter } from './defaults/index.js';
import { structAtom } from '../managed-fields/go-atom.js';
import { builtinIgnored } from '../managed-fields/typing.js';
import { strategicMergePatch } from '../patch/strategic-merge.js';
import { builtinTable } from '../table/builtin-columns.js';
import { badRequest } from '../protocol/status.js';
import { requireIntegers } from '../resource/number-literals.js';

function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

function hasGenerationChanged(rule: GenerationRule, object: UntypedObject, old: UntypedObject): boolean {
  switch (rule) {
    case 'none':
    case 'once':
      return false;
    case 'spec':
      return !equalSemantic(object['spec'], old['spec']);
    case 'spec-or-annotations':
      return (
        !equalSemantic(object['spec'], old['spec']) ||
        !equalSemantic(object.metadata.annotations, old.metadata.annotations)
      );
    case 'content': {
      const { metadata: _a, status: _b, ...content } = object;
      const { metadata: _c, status: _d, ...before } = old;
      return !equalSemantic(content, before);
    }
  }
}

/** Restores everything but status and metadata, and the labels if the kind does not let them come with a status. */
function restoreContent(object: UntypedObject, old: UntypedObject, keepsLabels: boolean): void {
  const { status, metadata } = object;
  for (const name of Object.keys(object)) delete object[name];
  const { status: _status, metadata: _metadata, ...rest } = old;
  Object.assign(object, rest, { metadata });
  if (keepsLabels && old.metadata.labels === undefined) delete metadata.labels;
  else if (keepsLabels && old.metadata.labels !== undefined) metadata.labels = old.metadata.labels;
  if (status !== undefined) object['status'] = status;
}

/** Restores everything but the status, metadata too except if managed fields are tracked. */
function onlyStatus(object: UntypedObject, old: UntypedObject): void {
  const { status } = object;
  const { resourceVersion, managedFields } = object.metadata;
  for (const name of Object.keys(object)) if (name !== 'metadata') delete object[name];
  const { status: _status, ...rest } = old;
  Object.assign(object, rest, { metadata: { ...old.metadata } });
  if (resourceVersion === undefined) delete object.metadata.resourceVersion;
  else object.metadata.resourceVersion = resourceVersion;
  if (managedFields !== undefined) object.metadata.managedFields = managedFields;
  if (status !== undefined) object['status'] = status;
}

function asUntyped(value: JsonObject, kind: string, apiVersion: string): UntypedObject {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  return { ...value, kind, apiVersion, metadata };
}

/** One built-in kind, with its table entry and its strategy. */
class BuiltinResource {
  readonly #kind: BuiltinKind;
  readonly #strategy: KindStrategy;
  readonly #apiVersion: string;
  readonly #hasStatus: boolean;

  constructor(kind: BuiltinKind, strategy: KindStrategy) {
    this.#kind = kind;
    this.#strategy = strategy;
    this.#apiVersion = apiVersionOf(kind.group, kind.version);
    this.#hasStatus = kind.subresources.some(({ name }) => name === 'status');
  }

  decode(input: DecodeInput): Decoded {
    const { group, version, kind, struct } = this.#kind;
    const expected = { group, version, kind, apiVersion: this.#apiVersion };
    const body = requireObject(input, expected);
    this.#checkType(body, expected);
    const unknown: string[] = [];
    const forgetsOwners = hasEmptyOwners(body);
    let decoded: JsonObject;
    try {
      requireIntegers(body, struct, input.literals ?? []);
      decoded = decodeStruct(body, struct, unknown);
    } catch (error) {
      throw cannotBeHandled(expected, kind, messageOf(error));
    }
    const object = asUntyped(decoded, kind, this.#apiVersion);
    if (forgetsOwners) object.metadata.managedFields = [];
    builtinDefaulter.apply(object, struct);
    this.#strategy.default?.(object);
    return { object, problems: unknownFields(unknown) };
  }

  decodeAdmitted(value: JsonObject, onDecoded?: (value: JsonObject) => void): UntypedObject {
    const { kind, struct } = this.#kind;
    const given = stringOf(value['kind']) || kind;
    const apiVersion = stringOf(value['apiVersion']) || this.#apiVersion;
    if (given !== kind || apiVersion !== this.#apiVersion)
      throw new TypeError(
        isBuiltinKind(apiVersion, given)
          ? `converting (${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${given}) to (${internalGroup(this.#kind.group)}.${kind}): unknown conversion`
          : `no kind ${goQuoted(given)} is registered for version ${goQuoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
      );
    const object = asUntyped(decodeStruct(value, struct, []), kind, this.#apiVersion);
    onDecoded?.(object);
    builtinDefaulter.apply(object, struct);
    this.#strategy.default?.(object);
    return object;
  }

  /** @throws StatusError 400 when the body states another type */
  #checkType(body: JsonObject, expected: ExpectedType): void {
    const apiVersion = stringOf(body['apiVersion']) || expected.apiVersion;
    const kind = stringOf(body['kind']) || expected.kind;
    if (kind === expected.kind && apiVersion === expected.apiVersion) return;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    const fail = (why: string): Error => cannotBeHandled({ ...expected, version }, kind, why);
    if (!isBuiltinKind(apiVersion, kind)) {
      const scheme = 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30';
      throw fail(
        `no kind ${goQuoted(kind)} is registered for version ${goQuoted(apiVersion)} in scheme ${goQuoted(scheme)}`,
      );
    }
    const isSameKind = kind === expected.kind && groupOf(apiVersion) === expected.group;
    if (isSameKind) requireApiVersion(body, expected);
    const from = `(${version}.${kind}) to (${internalGroup(expected.group)}.${expected.kind})`;
    throw fail(`converting ${from}: unknown conversion`);
  }

  prepareForCreate(...[object, context]: Parameters<ResourceDefinition['prepareForCreate']>): void {
    prepareMetadataForCreate(object);
    if (this.#hasStatus && this.#strategy.keepsStatusOnCreate !== true) {
      const type = this.#kind.struct.fields.get('status')?.type;
      if (type?.form === 'struct' && !type.pointer) object['status'] = zeroStruct(type.struct);
      else delete object['status'];
    }
    if (this.#generation !== 'none') object.metadata.generation = 1;
    this.#strategy.prepareForCreate?.(object, context);
  }

  /** The kinds of the API server itself and of coordination take any finalizer, as custom resources do. */
  #finalizerErrors(object: UntypedObject): FieldError[] {
    return /^(apiextensions|apiregistration|admissionregistration|coordination)\./.test(this.#kind.group)
      ? []
      : validateBuiltinFinalizers(object);
  }

  get #generation(): GenerationRule {
    return this.#strategy.generation ?? 'none';
  }

  validateCreate(
    ...[object, context]: Parameters<ResourceDefinition['validateCreate']>
  ): ReturnType<ResourceDefinition['validateCreate']> {
    const nameRule = this.#strategy.nameRule ?? subdomainName;
    const errors = [
      ...validateMetadata(object, { namespaced: this.#kind.namespaced, nameRule }),
      ...this.#finalizerErrors(object),
      ...(this.#strategy.validate?.(object, context) ?? []),
    ];
    if (errors.length > 0) return errors;
    for (const warning of this.#strategy.warnings?.(object, undefined) ?? []) context.warn(warning);
    return validatePathSafety(object);
  }

  prepareForUpdate(...[object, old, context]: Parameters<UpdateStrategy['prepareForUpdate']>): void {
    prepareMetadataForUpdate(object, old);
    if (this.#hasStatus) {
      if (old['status'] === undefined) delete object['status'];
      else object['status'] = old['status'];
    }
    this.#strategy.prepareForUpdate?.(object, old, context);
    if (hasGenerationChanged(this.#generation, object, old)) bumpGeneration(object, old);
  }

  validateUpdate(
    ...[object, old, context]: Parameters<UpdateStrategy['validateUpdate']>
  ): ReturnType<UpdateStrategy['validateUpdate']> {
    const { nameRule = subdomainName, revalidatesMetadata = false } = this.#strategy;
    const { namespaced } = this.#kind;
    const own = [
      ...(revalidatesMetadata ? validateMetadata(object, { namespaced, nameRule }) : []),
      ...(this.#strategy.validate?.(object, context, old) ?? []),
    ];
    const change = this.#strategy.validateChange?.(object, old, context) ?? [];
    const metadata = validateMetadataUpdate(object, old);
    const errors = [
      ...metadata,
      ...metadata,
      ...this.#finalizerErrors(object),
      ...(this.#strategy.reportsChangeFirst === true ? [...change, ...own] : [...own, ...change]),
    ];
    if (errors.length > 0) return errors;
    for (const warning of this.#strategy.warnings?.(object, old) ?? []) context.warn(warning);
    return [];
  }

  /** The status subresource. */
  get status(): UpdateStrategy {
    const own = this.#strategy.status;
    return {
      prepareForUpdate: (object, old, context) => {
        prepareMetadataForUpdate(object, old);
        if (own?.prepareForUpdate !== undefined) own.prepareForUpdate(object, old, context);
        else if (this.#kind.group === 'apiextensions.k8s.io') onlyStatus(object, old);
        else restoreContent(object, old, this.#strategy.statusKeepsLabels === true);
      },
      validateUpdate: (object, old, context) => [
        ...validateMetadataUpdate(object, old),
        ...this.#finalizerErrors(object),
        ...(own?.validateUpdate?.(object, old, context) ?? []),
      ],
    };
  }

  subresource({ name, verbs, group, version, kind }: BuiltinSubresource): Subresource {
    const own = this.#strategy.subresources?.[name];
    if (name === 'status') return { type: 'self', name, verbs, update: this.status };
    if (name === 'scale' && this.#strategy.scale !== undefined) {
      return { type: 'view', name, verbs, view: this.#strategy.scale };
    }
    if (own !== undefined) return { type: 'self', name, verbs, update: own };
    if (verbs.length === 1 && verbs[0] === 'create')
      return { type: 'action', name, verbs, accepts: { group, version, kind } };
    if (kind === this.#kind.kind && name !== 'log') {
      const update: UpdateStrategy = {
        prepareForUpdate: this.prepareForUpdate.bind(this),
        validateUpdate: this.validateUpdate.bind(this),
      };
      return { type: 'self', name, verbs, update };
    }
    return { type: 'connect', name, verbs, kind: { group, version, kind } };
  }

  fieldsOf(object: UntypedObject): Record<string, string> {
    const fields: Record<string, string> = { 'metadata.name': object.metadata.name ?? '' };
    if (this.#kind.namespaced) fields['metadata.namespace'] = object.metadata.namespace ?? '';
    for (const [label, read] of Object.entries(this.#strategy.fields ?? {})) fields[label] = read(object);
    return fields;
  }

  fieldLabelError(label: string): string {
    if (this.#strategy.fields !== undefined) return `field label not supported: ${label}`;
    return `${goQuoted(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
  }

  strategicMerge(object: UntypedObject, patch: unknown): unknown {
    if (!isObject(patch)) throw badRequest('error decoding patch: the patch is not an object');
    return strategicMergePatch(object, patch, this.#kind.struct);
  }
}

/** The definition of a built-in kind. */
export function createBuiltin(kind: BuiltinKind, strategy: KindStrategy): ResourceDefinition {
  const resource = new BuiltinResource(kind, strategy);
  const apiVersion = apiVersionOf(kind.group, kind.version);
  const { storage } = strategy;
  const isStored = kind.verbs.includes('get');
  const table = builtinTable(kind);
  const hasStatus = kind.subresources.some(({ name }) => name === 'status');
  let empty: UntypedObject | undefined;
  const { struct: _struct, subresources, ...names } = kind;
  return {
    ...names,
    apiVersion,
    listKind: `${kind.kind}List`,
    subresources: new Map(subresources.map((each) => [each.name, resource.subresource(each)])),
    isCustom: false,
    isStored,
    storageKey: storage?.key ?? `${kind.group}/${kind.plural}`,
    storageApiVersion: storage?.apiVersion ?? apiVersion,
    toStorage: storage?.toStorage ?? ((object) => object),
    fromStorage: storage?.fromStorage ?? strategy.read?.bind(strategy) ?? ((stored) => stored),
    fieldTyping: {
      atom: structAtom(kind.struct),
      empty: () => (empty ??= asUntyped(zeroStruct(kind.struct), kind.kind, apiVersion)),
      ignored: (subresource) => builtinIgnored({ ...kind, hasStatus }, subresource),
    },
    allowCreateOnUpdate: strategy.allowCreateOnUpdate ?? false,
    allowUnconditionalUpdate: strategy.allowUnconditionalUpdate ?? true,
    gracePeriodSeconds: (object) => strategy.gracePeriodSeconds?.(object) ?? 0,
    decode: resource.decode.bind(resource),
    decodeAdmitted: resource.decodeAdmitted.bind(resource),
    // Decoding has dropped it.
    noteAdmitted: () => undefined,
    ...(strategy.canonicalize !== undefined && { canonicalize: strategy.canonicalize.bind(strategy) }),
    ...(strategy.admit !== undefined && { admit: strategy.admit.bind(strategy) }),
    prepareForCreate: resource.prepareForCreate.bind(resource),
    validateCreate: resource.validateCreate.bind(resource),
    prepareForUpdate: resource.prepareForUpdate.bind(resource),
    validateUpdate: resource.validateUpdate.bind(resource),
    deletionForbidden: (object) => strategy.deletionForbidden?.(object),
    strategicMerge: resource.strategicMerge.bind(resource),
    selectableFields: Object.keys(strategy.fields ?? {}),
    fieldsOf: resource.fieldsOf.bind(resource),
    fieldLabelError: resource.fieldLabelError.bind(resource),
    columns: table.columns,
    cells: (object, now) => table.cells(object, now),
    ...(table.order !== undefined && { rowOrder: table.order }),
    ...(table.conditions !== undefined && { rowConditions: table.conditions }),
  };
}
