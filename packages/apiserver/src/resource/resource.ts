import type { UntypedObject } from '@kctl/apimachinery';
import type { FieldError, JsonObject } from '@kctl/crd/internal/engine';
import type { NumberLiteral } from '../json/strict-json.js';
import type { FieldTyping } from '../managed-fields/typing.js';
import type { RuleEvaluation } from './rule-evaluation.js';

/** Operation of a client on a resource or subresource, as discovery names it. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** Group, version and kind. */
export interface KindRef {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Facts about the request and the server for a strategy that prepares or validates an object. */
export interface WriteContext {
  /** Now, as RFC 3339 with seconds, for timestamps of the server. */
  readonly now: string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Live objects of a storage, in storage form. Allocators (clusterIP, nodePort) and name checks read it. */
  readonly objects: (storageKey: string) => Iterable<UntypedObject>;
  /** Adds a `Warning: 299` header to the answer. */
  readonly warn: (text: string) => void;
  readonly dryRun: boolean;
  /** Evaluation of the rules of a custom resource; if absent, they are evaluated at once. */
  readonly rules?: RuleEvaluation;
  /** Name of the requesting user. */
  readonly user?: string;
  /** Whether new pods get their service account and its token. */
  readonly podServiceAccounts?: boolean;
}

/** A parsed request body on its way to becoming an object. */
export interface DecodeInput {
  /** The parsed body, owned by the callee. Decoding changes it in place. */
  readonly value: unknown;
  /** The body as a string, since the real server quotes it in two messages. */
  readonly text?: string;
  /** Numbers of the body that are not written as integers. @default [] */
  readonly literals?: readonly NumberLiteral[] | undefined;
  /** `create` fills in a missing kind of a built-in; a patched object always has one. */
  readonly subresource?: string;
}

/** A decoded object, pruned and defaulted, in the version of the URL. */
export interface Decoded {
  readonly object: UntypedObject;
  /** `unknown field "spec.bogus"`, in the order of the body, for `fieldValidation` Warn and Strict. */
  readonly problems: readonly string[];
}

/** A condition of a Table's row. */
export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Content of a Table's row about its object. */
export interface RowContent {
  readonly cells: readonly unknown[];
  readonly conditions: readonly RowCondition[];
}

/** A column of a Table answer. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

/** How one update endpoint (the object itself, or a subresource that shows it whole) treats what is sent to it. */
export interface UpdateStrategy {
  /**
   * Changes of upstream's own admission plugins to a create or an update (`old` is present), in place, after owners are
   * noted, before webhooks and policies.
   */
  admit?(object: UntypedObject, old: UntypedObject | undefined, context: WriteContext): void;
  /** Puts back what this endpoint ignores, fills in what it must, sets the generation. Changes `object` only. */
  prepareForUpdate(object: UntypedObject, old: UntypedObject, context: WriteContext): void;
  /** All that is wrong with the update, metadata included; empty when valid. */
  validateUpdate(object: UntypedObject, old: UntypedObject, context: WriteContext): FieldError[];
}

/** A subresource. */
export type Subresource =
  /** Shows and changes the object itself, by status, finalize, approval, ephemeralcontainers, resize. */
  | { readonly type: 'self'; readonly name: string; readonly verbs: readonly Verb[]; readonly update: UpdateStrategy }
  /** Shows and changes a part of the object as an object of another kind, by scale. */
  | { readonly type: 'view'; readonly name: string; readonly verbs: readonly Verb[]; readonly view: ObjectView }
  /** Takes an object of another kind by POST and acts, by binding, eviction, token. */
  | { readonly type: 'action'; readonly name: string; readonly verbs: readonly Verb[]; readonly accepts: KindRef }
  /** Streams: log, exec, attach, portforward, proxy. */
  | { readonly type: 'connect'; readonly name: string; readonly verbs: readonly Verb[]; readonly kind: KindRef };

/** An object shown as another kind. */
export interface ObjectView {
  readonly kind: KindRef;
  /** Path in the object of the number that the view shows. */
  readonly replicasPath: readonly string[];
  /**
   * The view of an object, e.g. its autoscaling/v1 Scale. `isUpdate` requests it as the base of a change. @throws
   * StatusError if the object has no such part and is only to be read
   */
  show(object: UntypedObject, isUpdate?: boolean): UntypedObject;
  /** Decodes a body or a patched view. @throws StatusError 400 */
  decode(input: DecodeInput): Decoded;
  validate(view: UntypedObject): FieldError[];
  /** A copy of `object` with the view written into it; everything else as it was. The copy then goes through the main `prepareForUpdate` and `validateUpdate`. @throws StatusError */
  write(view: UntypedObject, object: UntypedObject): UntypedObject;
}

/** Conversion of objects to another version by a webhook. */
export interface ObjectConversion {
  /** Whether the webhook has to be called to show a stored object in this version. */
  needsCall(stored: UntypedObject): boolean;
  /** Stored objects that need a call, in this version and in order. @throws StatusError 500 */
  fromStorage(stored: readonly UntypedObject[]): Promise<readonly UntypedObject[]>;
  /** An object of this version, which is not the storage version, in that one. @throws StatusError 500 */
  toStorage(object: UntypedObject): Promise<UntypedObject>;
  /**
   * An object of any version in any other one, as the webhook returns it, for the ownership of fields. @throws
   * StatusError 500
   */
  convert(object: JsonObject, apiVersion: string): Promise<UntypedObject>;
}

/** A stored object, and its JSON. */
export interface StoredState {
  readonly object: UntypedObject;
  readonly text: string;
  readonly textLength: number;
}

/** Reads stored objects in another thread if that takes long. */
export interface SlowReading {
  /**
   * Whether a state takes so long that another thread reads it. `shown` is its form in this version, if there is one.
   */
  isSlow(state: StoredState, shown?: UntypedObject): boolean;
  /** States in this version and in order, webhooks included; undefined for one that is as it is stored. @throws StatusError */
  read(states: readonly StoredState[]): Promise<readonly (UntypedObject | undefined)[]>;
}

/**
 * One served resource, which is a plural under a group and version. Several served versions of one kind share a
 * `storageKey`.
 *
 * A create goes `decode` → `prepareForCreate` → uid, creationTimestamp, generated name → `validateCreate` →
 * `toStorage`; an update goes `decode` → `prepareForUpdate` → `validateUpdate` → `toStorage`; a read goes
 * `fromStorage`. The caller must own objects given to `decode` and `prepare…`, which change them; all others are only
 * read.
 */
export interface ResourceDefinition extends UpdateStrategy {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** `v1` or `apps/v1`. */
  readonly apiVersion: string;
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** Whether it comes from a CustomResourceDefinition, for which some status codes and messages differ. */
  readonly isCustom: boolean;
  /** Whether each of its objects takes so long to validate that another thread does so. @default false */
  readonly isHeavy?: boolean;
  /** Whether objects are kept at all; the *Review kinds are answered and forgotten. */
  readonly isStored: boolean;
  /** Message of the Warning header on every request, for a deprecated version. */
  readonly deprecationWarning?: string;

  /** Identity of the storage: `<group>/<plural>`, `/pods` for the core group; equal for all versions of one kind. */
  readonly storageKey: string;
  /** The apiVersion that objects have in storage. */
  readonly storageApiVersion: string;
  /** An object of this version in the storage's version. Marks it as clean for `fromStorage`. */
  toStorage(object: UntypedObject): UntypedObject;
  /**
   * A stored object in this version, converted, and for custom resources pruned and defaulted by the present schema.
   * Returns the same object if nothing changes; never modifies its argument.
   */
  fromStorage(stored: UntypedObject): UntypedObject;

  /** Refuses a custom resource whose version was removed from the definition. @throws StatusError 500 */
  requireKnownVersion?(stored: UntypedObject): void;
  /** Set if a webhook converts, in which case `toStorage` and `fromStorage` are for objects that need no call. */
  readonly conversion?: ObjectConversion;

  /** Reading of long objects, for custom resources. @default at once */
  readonly slowReading?: SlowReading;

  /** Versions of the kind that are defined and not served, whose written fields are still owned. @default none */
  readonly unserved?: readonly ResourceDefinition[];

  /** How its fields are owned. */
  readonly fieldTyping: FieldTyping;

  /** Whether PUT of an absent object creates it. */
  readonly allowCreateOnUpdate: boolean;
  /** Whether PUT without a resourceVersion overwrites. */
  readonly allowUnconditionalUpdate: boolean;
  /** Seconds of grace that a DELETE without options gives; 0 for almost everything. */
  gracePeriodSeconds(object: UntypedObject): number;

  /**
   * Checks kind and apiVersion, types (built-ins), prunes unknown fields, fills in defaults.
   *
   * @throws StatusError 400 as the real server's decoder does
   */
  decode(input: DecodeInput): Decoded;
  /**
   * Decodes the object returned by admission, with types and defaults again. Unknown fields of custom resources stay,
   * for the plugins that follow, and in the storage, until they are read. The value becomes the object's. `onDecoded`
   * sees it before it is defaulted.
   *
   * @throws an error with the decoder's words
   */
  decodeAdmitted(value: JsonObject, onDecoded?: (value: JsonObject) => void): UntypedObject;
  /**
   * Notes that a plugin or an apply has made an object that is to be stored, so it may have fields that its schema does
   * not name.
   */
  noteAdmitted(object: UntypedObject): void;
  prepareForCreate(object: UntypedObject, context: WriteContext): void;
  /** Fills in fields that follow from the name, after each generated name. */
  canonicalize?(object: UntypedObject): void;
  validateCreate(object: UntypedObject, context: WriteContext): FieldError[];
  /** Reason that this object must not be deleted, as the message of a 403, e.g. for namespace `default`. */
  deletionForbidden(object: UntypedObject): string | undefined;

  /** Applies a strategic merge patch; absent for custom resources (415). Reads only. @throws StatusError */
  readonly strategicMerge?: (object: UntypedObject, patch: unknown) => unknown;

  /** Field selector labels beyond metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  /** Values of all selectable fields, metadata.name and metadata.namespace included; '' if absent. */
  fieldsOf(object: UntypedObject): Record<string, string>;
  /** Message of the 400 for a field label that is not selectable. */
  fieldLabelError(label: string): string;

  readonly columns: readonly TableColumn[];
  /** Source of the columns of a custom resource, its `additionalPrinterColumns`. */
  readonly columnSource?: { readonly source: unknown };
  /** Cells of an object's row; `now` in ms since the epoch renders ages. */
  cells(object: UntypedObject, now: number): unknown[];
  /** Conditions of an object in a Table's row besides the cells, e.g. that it has run to its end. @default nothing */
  rowConditions?(object: UntypedObject): readonly RowCondition[];
  /** The order of a Table's rows. @default that of the list, by name */
  readonly rowOrder?: (a: UntypedObject, b: UntypedObject) => number;
}
