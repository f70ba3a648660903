import type { UntypedObject } from '@kctl/apimachinery';
import {
  createRuleValidator,
  type RuleFindings,
  type RuleValidateOptions,
  type RuleValidator,
  type StructuralSchema,
} from '@kctl/cel';
import { coerceEmbedded, validateEmbedded } from './definition/embedded.js';
import { validateScalePaths, type ScalePaths } from './definition/scale-paths.js';
import { decodeStruct } from './go/go-decode.js';
import { objectMetaStruct } from './go/object-meta.js';
import { applyDefaults, dropNulls } from './schema/default.js';
import { validateListTypes } from './schema/list-types.js';
import { pruneUnknown } from './schema/prune.js';
import type { Schema } from './schema/schema.js';
import { validateValue } from './schema/validate.js';
import { formatFieldError, invalidValue, type FieldError } from './values/field-error.js';
import { isObject, type JsonObject } from './values/json.js';
import {
  finalizerWarnings,
  validateMetadata,
  validateMetadataUpdate,
  validatePathSafety,
} from './values/metadata-validation.js';
import { subdomainName } from './values/name-rules.js';

/** Input of the rules for objects of one version of a CustomResourceDefinition. */
export interface CustomResourceRules {
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  readonly schema: Schema;
  /** The same schema as CEL reads it. */
  readonly structural: StructuralSchema;
  readonly scale: ScalePaths | undefined;
}

const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** The rules of one object, about to be evaluated. */
export interface RuleRun {
  readonly schema: StructuralSchema;
  readonly object: unknown;
  readonly old: unknown;
  validate(options?: Pick<RuleValidateOptions, 'inlineCost'>): RuleFindings;
}

/** Receives warnings of the validation of an object, and evaluates its rules. */
export interface RuleOutlet {
  readonly warn: (warning: string) => void;
  /** @default evaluates them at once */
  readonly evaluate?: (run: RuleRun) => RuleFindings;
}

/**
 * Decodes and validates the objects of one version of a CustomResourceDefinition as the API server does. The embedded
 * server and local validation both use it.
 */
export class CustomResourceValidator {
  readonly #rules: CustomResourceRules;
  /** Compiled with the first object; `null` if there are no rules. */
  #cel: RuleValidator | null | undefined;

  constructor(rules: CustomResourceRules) {
    this.#rules = rules;
  }

  /**
   * Handles nulls, defaults, metadata and pruning in place, in the order of upstream's decoder; for an object of
   * another kind only the metadata. `found` receives the paths of pruned fields.
   *
   * @throws GoDecodeError if the metadata cannot be decoded
   */
  normalize(body: JsonObject, found: string[]): UntypedObject {
    const { schema, kind } = this.#rules;
    // The schema does not apply to an object of another kind, which the validation rejects; admission sees it as
    // received.
    const isKnown = body['kind'] === kind;
    if (isKnown) {
      dropNulls(body, schema);
      applyDefaults(body, schema);
    }
    const source = isObject(body['metadata']) ? body['metadata'] : {};
    const metadata = decodeStruct(source, objectMetaStruct(), found, 'metadata');
    if (isKnown) {
      coerceEmbedded(body, schema, found);
      pruneUnknown(body, schema, found);
    }
    return Object.assign(body, { metadata });
  }

  #typeErrors(object: UntypedObject): FieldError[] {
    const { kind, apiVersion } = this.#rules;
    const errors: FieldError[] = [];
    if (object.kind !== kind) errors.push(invalidValue('kind', object.kind ?? '', `must be ${kind}`));
    if (object.apiVersion !== apiVersion) {
      errors.push(invalidValue('apiVersion', object.apiVersion ?? '', `must be ${apiVersion}`));
    }
    return errors;
  }

  /**
   * Evaluates the rules of the schema after everything else. An object that the rules may not be able to read is not
   * passed to them.
   */
  #withRules(
    errors: FieldError[],
    object: UntypedObject,
    old: UntypedObject | undefined,
    { warn, evaluate }: RuleOutlet,
  ): FieldError[] {
    if (this.#rules.schema.has?.rules !== true) return errors;
    if (errors.some(({ reason }) => blocking.has(reason))) return [...errors, invalidValue('<nil>', null, unchecked)];
    this.#cel ??= createRuleValidator(this.#rules.structural) ?? null;
    const cel = this.#cel;
    if (cel === null) return errors;
    const schema = this.#rules.structural;
    const options = old === undefined ? {} : { old };
    const run: RuleRun = { schema, object, old, validate: (more) => cel.validate(object, { ...options, ...more }) };
    const found = evaluate === undefined ? run.validate() : evaluate(run);
    for (const warning of found.warnings) warn(formatFieldError(warning));
    return [...errors, ...found.errors];
  }

  /** Validates an object to be created. */
  validateCreate(object: UntypedObject, outlet: RuleOutlet): FieldError[] {
    const { warn } = outlet;
    const { namespaced, schema, scale } = this.#rules;
    const typeErrors = this.#typeErrors(object);
    // As upstream, for an object of another kind embedded objects, list types and rules are still checked.
    const content =
      typeErrors.length > 0
        ? typeErrors
        : [
            ...validateMetadata(object, { namespaced, nameRule: subdomainName }),
            ...validateValue(object, schema),
            ...validateScalePaths(object, scale, true),
          ];
    const structural = [...content, ...validateEmbedded(object, schema), ...validateListTypes(object, schema)];
    const errors = this.#withRules(structural, object, undefined, outlet);
    if (errors.length > 0) return errors;
    for (const warning of finalizerWarnings(object)) warn(warning);
    return validatePathSafety(object);
  }

  /** Validates an object to replace `old`. */
  validateUpdate(object: UntypedObject, old: UntypedObject, outlet: RuleOutlet): FieldError[] {
    const { warn } = outlet;
    const { schema, scale } = this.#rules;
    const general = validateMetadataUpdate(object, old);
    const typeErrors = this.#typeErrors(object);
    const content =
      typeErrors.length > 0
        ? typeErrors
        : [
            ...validateMetadataUpdate(object, old),
            ...validateValue(object, schema, '', old),
            ...validateScalePaths(object, scale, true),
          ];
    const own = [
      ...content,
      ...validateEmbedded(object, schema),
      ...(validateListTypes(old, schema).length > 0 ? [] : validateListTypes(object, schema)),
    ];
    const errors = [...general, ...this.#withRules(own, object, old, outlet)];
    if (errors.length === 0) for (const warning of finalizerWarnings(object, old)) warn(warning);
    return errors;
  }

  /** Validates an object whose status is to replace that of `old`. */
  validateStatusUpdate(object: UntypedObject, old: UntypedObject, outlet: RuleOutlet): FieldError[] {
    const { schema, scale } = this.#rules;
    const general = validateMetadataUpdate(object, old);
    const typeErrors = this.#typeErrors(object);
    const statusSchema = schema.properties?.get('status');
    const { status } = object;
    const content =
      typeErrors.length > 0
        ? typeErrors
        : [
            ...validateMetadataUpdate(object, old),
            ...(status === undefined || statusSchema === undefined
              ? []
              : validateValue(status, statusSchema, 'status', old['status'])),
            ...validateScalePaths(object, scale, false),
          ];
    const own = [...content, ...(validateListTypes(old, schema).length > 0 ? [] : validateListTypes(object, schema))];
    return [...general, ...this.#withRules(own, object, old, outlet)];
  }
}
