import { booleanOption, numberOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import { createCelEnvironment } from '../environment.js';
import { CelCostExceededError, CelEvaluationError, CelInlineCostError } from '../errors.js';
import { defaultCostLimit, type CelProgram } from '../program.js';
import { withTypeAndObjectMeta, type StructuralSchema, type ValidationRule } from '../schema/structural.js';
import { jsonValue, schemaValue } from '../values/json.js';
import { Failure, ListValue, MapValue, Optional, type Value } from '../values/value.js';
import { RuleCompiler, type CompiledRule } from './compile-rule.js';
import { Correlation, isRatcheted, KeyedItems, ratchetItem, ratchetProperty, type Ratchet } from './correlation.js';
import { childPath, shownPath } from './field-path.js';
import { byReason, invalid, omitted, type RuleError } from './rule-error.js';

/** Cost budget of all rules of one object, as in the API server. */
const objectBudget = 10_000_000;
const maxMessage = 5 * 1024;

type Json = Readonly<Record<string, unknown>>;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Result of an object's rules. */
export interface RuleFindings {
  /** Errors that reject the object, in the order of its fields. */
  readonly errors: readonly RuleError[];
  /**
   * Errors that would reject the object if the update had changed the field; the API server sends these as warnings.
   */
  readonly warnings: readonly RuleError[];
}

/** Options of {@link RuleValidator.validate}. */
export interface RuleValidateOptions {
  /** The object before the update; absent on create. */
  readonly old?: unknown;
  /** Cost budget of all rules together. Default 10,000,000, as in the API server. */
  readonly costBudget?: number;
  /** Goes before the fields of the errors. Default '': the object is the root. */
  readonly path?: string;
  /**
   * Cost at which the validation gives up with {@link CelInlineCostError}, without a verdict, before its budget is
   * spent. For callers that then validate elsewhere, in another thread. No limit by default.
   */
  readonly inlineCost?: number;
}

/** Options of {@link createRuleValidator}. */
export interface RuleValidatorOptions {
  /** Whether the schema is that of a whole resource, with kind and metadata. Default true. */
  readonly isResource?: boolean;
}

/** Evaluates the rules of a schema. */
export interface RuleValidator {
  /**
   * Does not throw for errors of an object or a rule; each is an error of a field.
   *
   * @throws CelInlineCostError if it costs more than `inlineCost`
   */
  validate(object: unknown, options?: RuleValidateOptions): RuleFindings;
}

/** A node that has rules, or rules below it. */
interface RuleNode {
  readonly schema: StructuralSchema;
  readonly isResource: boolean;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

/** Whether a node, or one below it, has rules. */
export function hasRules(schema: StructuralSchema): boolean {
  if (schema.rules !== undefined && schema.rules.length > 0) return true;
  if (schema.items !== undefined && hasRules(schema.items)) return true;
  if (schema.additional !== undefined && hasRules(schema.additional)) return true;
  return schema.properties?.values().some(hasRules) ?? false;
}

function build(schema: StructuralSchema, isResource: boolean, compiler: RuleCompiler): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const below = (child: StructuralSchema | undefined): RuleNode | undefined =>
    child === undefined ? undefined : build(child, child.embedded === true, compiler);
  const properties = new Map<string, RuleNode>();
  for (const [name, child] of schema.properties ?? []) {
    const node = below(child);
    if (node !== undefined) properties.set(name, node);
  }
  const rules = compiler.compile(schema, isResource);
  return { schema, isResource, rules, properties, additional: below(schema.additional), items: below(schema.items) };
}

function ruleText({ rule, message }: ValidationRule): string {
  return (message ?? '') === '' ? rule.trim() : (message ?? '').trim();
}

function messageOf(rule: ValidationRule): string {
  return (rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : (rule.message ?? '').trim();
}

/**
 * An old value as a rule with `optionalOldSelf` sees it. cel-go takes it out of its optional as plain JSON, so objects
 * and lists lose their schema. Scalars keep their types.
 */
function unwrapped(oldSelf: Value | undefined): Value | undefined {
  if (!(oldSelf instanceof MapValue) && !(oldSelf instanceof ListValue)) return oldSelf;
  const plain = jsonValue(oldSelf.raw);
  return plain instanceof Failure ? oldSelf : plain;
}

/** Ends the walk because the budget is spent. */
class Spent extends Error {}

interface Visit {
  readonly path: string;
  readonly value: unknown;
  readonly old: unknown;
  readonly ratchet: Ratchet;
}

class Walk {
  readonly errors: RuleError[] = [];
  readonly warnings: RuleError[] = [];
  #budget: number;
  #inline: number;

  constructor(budget: number, inline: number) {
    this.#budget = budget;
    this.#inline = inline;
  }

  visit(node: RuleNode, visit: Visit): void {
    const { value, old } = visit;
    if (value === null || value === undefined) return;
    if (node.rules.length > 0) this.#evaluate(node, visit);
    if (Array.isArray(value)) this.#visitItems(node, value, visit);
    else if (isJson(value)) this.#visitEntries(node, value, isJson(old) ? old : {}, visit);
  }

  #visitItems(node: RuleNode, value: readonly unknown[], { path, old, ratchet }: Visit): void {
    const { items } = node;
    if (items === undefined) return;
    const before = new KeyedItems(node.schema, old);
    for (const [index, item] of value.entries()) {
      this.visit(items, {
        path: `${path}[${index}]`,
        value: item,
        old: before.get(item),
        ratchet: ratchetItem(ratchet, index),
      });
    }
  }

  #visitEntries(node: RuleNode, value: Json, old: Json, { path, ratchet }: Visit): void {
    for (const [name, item] of Object.entries(value)) {
      const child = node.additional ?? node.properties.get(name);
      if (child === undefined) continue;
      this.visit(child, {
        path: node.additional === undefined ? childPath(path, name) : `${path}[${name}]`,
        value: item,
        old: Object.hasOwn(old, name) ? old[name] : undefined,
        ratchet: ratchetProperty(ratchet, name),
      });
    }
  }

  #stop(error: RuleError): never {
    this.errors.push(error);
    throw new Spent();
  }

  #evaluate(node: RuleNode, visit: Visit): void {
    const field = shownPath(visit.path);
    const type = node.schema.type ?? '';
    const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';
    if (this.#budget <= 0) this.#stop(invalid(field, type, outOfBudget));
    const schema = node.isResource ? withTypeAndObjectMeta(node.schema) : node.schema;
    const hasOld = visit.old !== undefined && visit.old !== null;
    const self = schemaValue(visit.value, schema);
    const oldSelf = hasOld ? schemaValue(visit.old, schema) : undefined;
    const variables = { self, oldSelf };
    const optional = { self, oldSelf: oldSelf instanceof Failure ? oldSelf : new Optional(unwrapped(oldSelf)) };
    for (const compiled of node.rules) {
      if (compiled.error !== undefined) {
        this.errors.push(invalid(field, type, `rule compile error: ${compiled.error}`));
        continue;
      }
      const { program, rule } = compiled;
      if (program === undefined || (compiled.usesOldSelf && !hasOld && rule.optionalOldSelf !== true)) continue;
      const activation = rule.optionalOldSelf === true ? optional : variables;
      const result = this.#run(program, activation);
      this.#budget -= result.cost;
      if (this.#budget < 0) this.#stop(invalid(field, type, outOfBudget));
      if (result.error instanceof CelCostExceededError) {
        const text = `'${result.error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`;
        this.#stop(invalid(field, type, text));
      }
      if (result.error !== undefined) this.errors.push(failedEvaluation(field, type, rule, result.error));
      else if (result.value !== true) this.#report(compiled, visit, type, variables);
    }
  }

  #run(program: CelProgram, activation: object): { value?: Value; cost: number; error?: CelEvaluationError } {
    const costLimit = Math.min(defaultCostLimit, this.#inline);
    try {
      const result = program.evaluate({ ...activation }, { costLimit });
      this.#inline -= result.cost;
      return result;
    } catch (error) {
      if (!(error instanceof CelEvaluationError)) throw error;
      if (error instanceof CelCostExceededError && costLimit < defaultCostLimit) throw new CelInlineCostError();
      this.#inline -= error.cost;
      return { cost: error.cost, error };
    }
  }

  /** A rule that does not hold. */
  #report(compiled: CompiledRule, visit: Visit, type: string, variables: object): void {
    const { rule, fieldPath } = compiled;
    const path =
      fieldPath === ''
        ? visit.path
        : fieldPath.startsWith('[')
          ? `${visit.path}${fieldPath}`
          : childPath(visit.path, fieldPath);
    const field = shownPath(path);
    const detail = this.#message(compiled, field, type, variables) ?? messageOf(rule);
    const value = type === 'object' || type === 'array' ? omitted : visit.value;
    const error = byReason(rule.reason, field, value, detail);
    if (!compiled.usesOldSelf && isRatcheted(visit.ratchet)) this.warnings.push(error);
    else this.errors.push(error);
  }

  /** The message from the rule's messageExpression; undefined if it returns none that can be shown. */
  #message(compiled: CompiledRule, field: string, type: string, variables: object): string | undefined {
    const { message, rule } = compiled;
    if (message === undefined) return undefined;
    const result = this.#run(message, variables);
    this.#budget -= result.cost;
    if (this.#budget < 0) {
      const text =
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
      this.#stop(invalid(field, type, text));
    }
    if (result.error instanceof CelCostExceededError) {
      const text = `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`;
      this.#stop(invalid(field, type, text));
    }
    const text = typeof result.value === 'string' ? result.value.trim() : '';
    if (text === '' || text.includes('\n') || new TextEncoder().encode(text).length > maxMessage) return undefined;
    return text;
  }
}

function failedEvaluation(field: string, type: string, rule: ValidationRule, error: CelEvaluationError): RuleError {
  const { message } = error;
  if (!message.startsWith('no such overload'))
    return invalid(field, type, `${message} evaluating rule: ${ruleText(rule)}`);
  const text = `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`;
  return invalid(field, type, text);
}

const validatorOptions: OptionNames<RuleValidatorOptions> = { isResource: booleanOption };
const validateOptions: OptionNames<RuleValidateOptions> = {
  old: true,
  costBudget: numberOption({ orInfinity: true }),
  path: textOption,
  inlineCost: numberOption({ orInfinity: true }),
};

/**
 * Compiles the rules of a schema (`x-kubernetes-validations`).
 *
 * @returns undefined if the schema has no rules.
 */
export function createRuleValidator(
  schema: StructuralSchema,
  options: RuleValidatorOptions = {},
): RuleValidator | undefined {
  requireOptions('createRuleValidator', options, validatorOptions);
  const { isResource = true } = options;
  if (!hasRules(schema)) return undefined;
  // Rules that are stored already may use everything that the server knows.
  const root = build(schema, isResource, new RuleCompiler(createCelEnvironment()));
  if (root === undefined) return undefined;
  return {
    validate(object, options = {}) {
      requireOptions('RuleValidator.validate', options, validateOptions);
      const walk = new Walk(options.costBudget ?? objectBudget, options.inlineCost ?? Infinity);
      const old = options.old;
      const current = old === undefined ? undefined : new Correlation(object, old, schema);
      try {
        walk.visit(root, { path: options.path ?? '', value: object, old, ratchet: { current, nearest: undefined } });
      } catch (error) {
        if (!(error instanceof Spent)) throw error;
      }
      return { errors: walk.errors, warnings: walk.warnings };
    },
  };
}
