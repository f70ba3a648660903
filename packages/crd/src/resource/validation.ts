import { parseJson, stringifyJson, type KubeObject, type UntypedObject } from '@kctl/apimachinery';
import { structuralSchema } from '@kctl/cel';
import { messageOf } from '@kctl/telemetry/internal';
import { shownValue, type OptionNames } from '@kctl/options';
import { CustomResourceValidator } from '../engine/custom-resource.js';
import { readScalePaths } from '../engine/definition/scale-paths.js';
import { compileSchema } from '../engine/schema/compile.js';
import { formatFieldErrors, type FieldError } from '../engine/values/field-error.js';
import { at, cloneJson, isObject, objectOf, stringOf, type JsonObject } from '../engine/values/json.js';

/** Options for {@link Resource.validate}. */
export interface ValidateOptions {
  /** The stored object, for an update. Transition rules, ratcheting and immutable metadata need it. */
  readonly old?: object;
  /** `status` validates an update of the status alone. Needs `old`. */
  readonly subresource?: 'status';
}

/** Options that {@link Resource.validate} checks before it validates. */
export const validateOptionNames: OptionNames<ValidateOptions> = {
  old: true,
  subresource: (name: string, value: unknown) =>
    value === 'status' ? undefined : `${name} ${shownValue(value)} is not valid: expected "status"`,
};

/** Result of validating an object as the API server would. */
export interface Validation<T extends KubeObject> {
  /** Whether the API server would take it. */
  readonly isValid: boolean;
  /** The object as it would be stored, pruned and with defaults. The given object is not changed. */
  readonly object: T;
  /** Errors, as the causes of the API server's Status. */
  readonly errors: readonly FieldError[];
  /** The errors in one line, as in the message of a Status; '' if there are no errors. */
  readonly message: string;
  /** Paths of fields that the schema does not name. The API server drops them (strict clients are refused). */
  readonly pruned: readonly string[];
  readonly warnings: readonly string[];
}

/** Input for validation. */
export interface ValidationFacts {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** One entry of `spec.versions`. */
  readonly version: JsonObject;
}

function metadataFor(object: UntypedObject, old: UntypedObject | undefined, namespaced: boolean): void {
  const { metadata } = object;
  // Fields that the request and the API server would fill in.
  if (namespaced && metadata.namespace === undefined) metadata.namespace = old?.metadata.namespace ?? 'default';
  if (old === undefined) {
    if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '')
      metadata.name = `${metadata.generateName}xxxxx`;
    delete metadata.deletionTimestamp;
    delete metadata.deletionGracePeriodSeconds;
    return;
  }
  for (const name of [
    'uid',
    'creationTimestamp',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const) {
    if (old.metadata[name] !== undefined) Object.assign(metadata, { [name]: metadata[name] ?? old.metadata[name] });
  }
  if ((metadata.resourceVersion ?? '') === '') metadata.resourceVersion = old.metadata.resourceVersion ?? '1';
}

/** Content of an object's JSON. A large integer keeps its type, a number, or a `bigint` as read by a client. */
function copyOf(source: object): unknown {
  const copy: unknown = parseJson(stringifyJson(source));
  keepNumbers(copy, source);
  return copy;
}

function keepNumbers(copy: unknown, source: unknown): void {
  if (typeof copy !== 'object' || copy === null || typeof source !== 'object' || source === null) return;
  for (const [name, value] of Object.entries(copy)) {
    const given: unknown = Reflect.get(source, name);
    if (typeof value === 'bigint' && typeof given === 'number') Reflect.set(copy, name, given);
    else keepNumbers(value, given);
  }
}

/** Validates objects of one version as the API server does, with the engine of the embedded server. */
export class LocalValidator {
  readonly #facts: ValidationFacts;
  readonly #validator: CustomResourceValidator;
  readonly #hasStatus: boolean;

  constructor(facts: ValidationFacts) {
    const { version } = facts;
    const source = objectOf(at(version, 'schema', 'openAPIV3Schema'));
    this.#facts = facts;
    this.#hasStatus = isObject(at(version, 'subresources', 'status'));
    this.#validator = new CustomResourceValidator({
      ...facts,
      schema: compileSchema(source),
      structural: structuralSchema(source),
      scale: readScalePaths(at(version, 'subresources', 'scale')),
    });
  }

  #read(source: object, found: string[]): UntypedObject {
    const { apiVersion, kind } = this.#facts;
    const body = objectOf(copyOf(source));
    if (stringOf(body['apiVersion']) === '') body['apiVersion'] = apiVersion;
    if (stringOf(body['kind']) === '') body['kind'] = kind;
    return this.#validator.normalize(body, found);
  }

  /** The part of the object that a write of its kind does not touch is that of the stored object. */
  #carryOver(object: UntypedObject, old: UntypedObject | undefined, subresource: string | undefined): UntypedObject {
    if (subresource === 'status' && old !== undefined) {
      const whole = cloneJson(old);
      if (object['status'] === undefined) delete whole['status'];
      else whole['status'] = object['status'];
      whole.metadata.resourceVersion = object.metadata.resourceVersion ?? old.metadata.resourceVersion ?? '1';
      return whole;
    }
    if (!this.#hasStatus) return object;
    if (old?.['status'] === undefined) delete object['status'];
    else object['status'] = cloneJson(old['status']);
    return object;
  }

  /** Validates a stored object, status included, as if it were written today. */
  validateStored(source: object): { readonly errors: readonly FieldError[]; readonly pruned: readonly string[] } {
    const pruned: string[] = [];
    const object = this.#read(source, pruned);
    metadataFor(object, undefined, this.#facts.namespaced);
    return { errors: this.#validator.validateCreate(object, { warn: () => undefined }), pruned };
  }

  validate(source: object, options: ValidateOptions): Validation<UntypedObject> {
    const pruned: string[] = [];
    const warnings: string[] = [];
    const isStatus = options.subresource === 'status';
    if (isStatus && options.old === undefined) {
      throw new TypeError('validate: subresource "status" needs old: a status is written to a stored object');
    }
    let object: UntypedObject;
    let old: UntypedObject | undefined;
    try {
      old = options.old === undefined ? undefined : this.#read(options.old, []);
      object = this.#read(source, pruned);
    } catch (error) {
      const message = messageOf(error);
      const errors: FieldError[] = [{ reason: 'FieldValueTypeInvalid', field: 'metadata', message }];
      return { isValid: false, object: { metadata: {} }, errors, message, pruned, warnings };
    }
    if (old !== undefined) metadataFor(old, old, this.#facts.namespaced);
    metadataFor(object, old, this.#facts.namespaced);
    object = this.#carryOver(object, old, options.subresource);
    const warn = (warning: string): void => {
      warnings.push(warning);
    };
    const validator = this.#validator;
    const errors =
      old === undefined
        ? validator.validateCreate(object, { warn })
        : isStatus
          ? validator.validateStatusUpdate(object, old, { warn })
          : validator.validateUpdate(object, old, { warn });
    const message = errors.length === 0 ? '' : formatFieldErrors(errors);
    return { isValid: errors.length === 0, object, errors, message, pruned, warnings };
  }
}
