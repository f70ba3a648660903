import { booleanOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import { createCelEnvironment } from '../environment.js';
import { declTypeOf, maxRequestSize } from '../schema/decl-type.js';
import type { StructuralSchema, ValidationRule } from '../schema/structural.js';
import { RuleCompiler, type CompiledRule } from './compile-rule.js';
import { resolveFieldPath } from './field-path.js';
import { forbidden, invalid, notSupported, required, type RuleError } from './rule-error.js';

/** Limits on the estimated cost of a single rule and of all rules of a schema. */
const ruleLimit = 10_000_000;
const schemaLimit = 100_000_000;
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const newline = /[\n\r]/;

/** Options of {@link checkRules}. */
export interface CheckRulesOptions {
  /**
   * The Kubernetes minor version whose libraries new rules may use. Default `1.35`: the one before the API server's own,
   * as it does itself, so that rules still compile after a rollback.
   */
  readonly version?: string;
  /** Whether cost estimates of single rules are passed over, as for a schema that is stored already. Default false. */
  readonly ignoresCosts?: boolean;
}

const optionNames: OptionNames<CheckRulesOptions> = { version: textOption, ignoresCosts: booleanOption };

interface Place {
  readonly field: string;
  readonly isResource: boolean;
  /** How often the node can occur in an object; undefined if unbounded. */
  readonly cardinality: number | undefined;
  /** The list whose items cannot be distinguished, if the node is below one. */
  readonly uncorrelatable: string | undefined;
}

/** A rule as upstream's internal form prints it. */
class PrintedRule {
  readonly #rule: ValidationRule;

  constructor(rule: ValidationRule) {
    this.#rule = rule;
  }

  toJSON(): object {
    const { rule, message, messageExpression, reason, fieldPath, optionalOldSelf } = this.#rule;
    return {
      Rule: rule,
      Message: message ?? '',
      MessageExpression: messageExpression ?? '',
      Reason: reason ?? null,
      FieldPath: fieldPath ?? '',
      OptionalOldSelf: optionalOldSelf ?? null,
    };
  }
}

function checkTexts(rule: ValidationRule, schema: StructuralSchema, field: string): RuleError[] {
  const errors: RuleError[] = [];
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
  if (rule.rule.trim() === '') errors.push(required(`${field}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    errors.push(invalid(`${field}.message`, message, 'must be non-empty if specified'));
  } else if (newline.test(message.trim())) {
    errors.push(invalid(`${field}.message`, message, 'must not contain line breaks'));
  } else if (newline.test(rule.rule.trim()) && message.trim() === '') {
    errors.push(required(`${field}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(`${field}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${field}.reason`, reason, reasons));
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(invalid(`${field}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  }
  if (newline.test(fieldPath)) errors.push(invalid(`${field}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (fieldPath !== '' && resolveFieldPath(fieldPath, schema) === undefined) {
    errors.push(invalid(`${field}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function costText(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** The factor by which a node multiplies the nodes below it; undefined if unbounded. */
function maxElements(schema: StructuralSchema): number | undefined {
  if (schema.type === 'array') return schema.maxItems === undefined ? undefined : Math.max(0, schema.maxItems);
  if (schema.type !== 'object' || schema.additional === undefined) return 1;
  return schema.maxProperties === undefined ? undefined : Math.max(0, schema.maxProperties);
}

class Check {
  readonly schemaErrors: RuleError[] = [];
  readonly celErrors: RuleError[] = [];
  readonly #compiler: RuleCompiler;
  readonly #ignoresCosts: boolean;
  readonly #costs: { readonly field: string; readonly cost: number }[] = [];

  constructor(options: CheckRulesOptions) {
    this.#compiler = new RuleCompiler(createCelEnvironment({ version: options.version ?? '1.35' }));
    this.#ignoresCosts = options.ignoresCosts === true;
  }

  /** Visits a node after its descendants, as upstream. */
  visit(schema: StructuralSchema, place: Place): void {
    const before = this.schemaErrors.length;
    const factor = maxElements(schema);
    const below: Omit<Place, 'field' | 'isResource'> = {
      cardinality: place.cardinality === undefined || factor === undefined ? undefined : place.cardinality * factor,
      uncorrelatable: place.uncorrelatable,
    };
    const child = (node: StructuralSchema | undefined, field: string, more: Partial<Place> = {}): void => {
      if (node !== undefined) this.visit(node, { ...below, field, isResource: node.embedded === true, ...more });
    };
    child(schema.additional, `${place.field}.additionalProperties`);
    for (const [name, node] of schema.properties ?? []) child(node, `${place.field}.properties[${name}]`);
    const isAtomic = schema.listType !== 'map';
    const uncorrelatable = place.uncorrelatable ?? (isAtomic ? place.field : undefined);
    child(schema.items, `${place.field}.items`, { uncorrelatable });
    const rules = schema.rules ?? [];
    for (const [index, rule] of rules.entries()) {
      this.schemaErrors.push(...checkTexts(rule, schema, `${place.field}.x-kubernetes-validations[${index}]`));
    }
    if (rules.length > 0 && this.schemaErrors.length === before) this.#checkExpressions(schema, place);
  }

  #checkExpressions(schema: StructuralSchema, place: Place): void {
    const field = `${place.field}.x-kubernetes-validations`;
    const decl = declTypeOf(schema, 'selfType', place.isResource);
    if (decl === undefined) {
      const text =
        'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      this.celErrors.push({ reason: 'InternalError', field, message: text });
      return;
    }
    const cardinality = place.cardinality ?? Math.floor(maxRequestSize / (decl.minSerializedSize + 1));
    for (const [index, compiled] of this.#compiler.compile(schema, place.isResource).entries()) {
      this.#checkRule(compiled, `${field}[${index}]`, cardinality, place.uncorrelatable);
    }
  }

  #checkRule(compiled: CompiledRule, field: string, cardinality: number, uncorrelatable: string | undefined): void {
    const { rule, program, error, messageError } = compiled;
    const cost = program === undefined ? 0 : program.estimateCost().max * cardinality;
    const errors = this.celErrors;
    this.#observe(`${field}.rule`, 'estimated rule cost', Number.isNaN(cost) ? 0 : cost);
    if (error !== undefined) errors.push(invalid(`${field}.rule`, new PrintedRule(rule), error));
    if (messageError !== undefined) {
      errors.push(invalid(`${field}.messageExpression`, new PrintedRule(rule), messageError));
    } else if (compiled.message !== undefined) {
      const messageCost = compiled.message.estimateCost().max;
      this.#observe(`${field}.messageExpression`, 'estimated messageExpression cost', messageCost);
    }
    if (compiled.usesOldSelf) {
      if (uncorrelatable === undefined) return;
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      errors.push(invalid(`${field}.rule`, rule.rule, text));
    } else if (rule.optionalOldSelf !== undefined) {
      const text = 'may not be set if oldSelf is not used in rule';
      errors.push(invalid(`${field}.optionalOldSelf`, rule.optionalOldSelf, text));
    }
  }

  #observe(field: string, name: string, cost: number): void {
    if (!this.#ignoresCosts && cost > ruleLimit) this.celErrors.push(forbidden(field, costText(name, cost, ruleLimit)));
    this.#costs.push({ field, cost });
  }

  /** The errors of all rules together. */
  totals(field: string): RuleError[] {
    const total = this.#costs.reduce((sum, { cost }) => sum + cost, 0);
    if (total <= schemaLimit) return [];
    const worst = this.#costs
      .filter(({ cost }) => cost >= schemaLimit / 100)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, 4);
    const text = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [...worst.map((each) => forbidden(each.field, text)), forbidden(field, costText(name, total, schemaLimit))];
  }
}

/**
 * Checks the rules of a whole resource's schema as the API server does when a CustomResourceDefinition is written.
 * Covers syntax, types, estimated costs, and `oldSelf` if it is meaningful.
 *
 * @param field the path of the schema, which goes before the fields of the errors.
 */
export function checkRules(schema: StructuralSchema, field: string, options: CheckRulesOptions = {}): RuleError[] {
  requireOptions('checkRules', options, optionNames);
  const check = new Check(options);
  check.visit(schema, { field, isResource: true, cardinality: 1, uncorrelatable: undefined });
  return [...check.schemaErrors, ...check.celErrors, ...check.totals(field)];
}
