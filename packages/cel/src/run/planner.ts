import type { Checked, ResolvedCall } from '../check/checker.js';
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  ListExpr,
  LiteralValue,
  MapExpr,
  SelectExpr,
  StructExpr,
} from '../syntax/ast.js';
import { ArrayList } from '../values/list.js';
import { EntryMap, formatKey, keyOf, type MapKey } from '../values/map.js';
import { Failure, Optional, StructValue, Uint, type Value } from '../values/value.js';
import { planCall, planMembership } from './call.js';
import { has, select, selectOptional } from './select.js';
import { attributePlan, baseOf, constantPlan, type Plan, type Step } from './step.js';
import { planFold } from './fold.js';
import { planJunction, planTernary } from './logic.js';

/** Costs of creating a list, map or struct, as in cel-go. */
const listCost = 10;
const mapCost = 30;
const structCost = 40;

function literalValue(value: LiteralValue): Value {
  if (typeof value === 'object' && value !== null && 'uint' in value) return new Uint(value.uint);
  return value;
}

function isValue(value: Value | Failure): value is Value {
  return !(value instanceof Failure);
}

/** Turns a checked expression into steps. */
export class Planner {
  readonly #checked: Checked;
  readonly #slots = new Map<string, number[]>();
  #slotCount = 0;
  #problem: string | undefined;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  /** Why the program cannot be created, such as a constant that does not convert. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** How many slots for variables of folds a frame needs. */
  get slotCount(): number {
    return this.#slotCount;
  }

  plan(expr: Expr): Plan {
    switch (expr.kind) {
      case 'literal':
        return constantPlan(literalValue(expr.value));
      case 'ident':
        return this.#ident(expr, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #ident(expr: Expr, written: string): Plan {
    const slot = this.#slots.get(written)?.at(-1);
    if (slot !== undefined) {
      return attributePlan((frame) => frame.locals[slot] ?? new Failure(`no such attribute(s): ${written}`));
    }
    const declaration = this.#checked.names.get(expr.id);
    if (declaration === undefined) return constantPlan(new Failure(`no such attribute(s): ${written}`));
    const { name, value } = declaration;
    if (value !== undefined) return constantPlan(value);
    return attributePlan((frame) => frame.variable(name));
  }

  #select(expr: SelectExpr): Plan {
    if (this.#checked.names.has(expr.id)) return this.#ident(expr, '');
    const base = baseOf(this.plan(expr.operand));
    const from = base.bare ?? base.run;
    const { field } = expr;
    if (expr.testOnly) {
      return {
        run: (frame) => {
          const operand = from(frame);
          if (operand instanceof Failure) return operand;
          frame.meter.spend(1);
          return has(operand, field);
        },
      };
    }
    const next: Step = (frame) => {
      const operand = from(frame);
      if (operand instanceof Failure) return operand;
      frame.meter.spend(1);
      return select(operand, field);
    };
    return withBase(base, next);
  }

  #call(expr: CallExpr): Plan {
    switch (expr.name) {
      case '_&&_':
      case '_||_':
        return planJunction(
          expr.name === '_&&_',
          expr.args.map((arg) => this.plan(arg)),
        );
      case '_?_:_':
        return planTernary(expr.args.map((arg) => this.plan(arg)));
      case '_[_]':
      case '_[?_]':
      case '_?._':
        return this.#index(expr);
      default:
    }
    const resolved = this.#checked.calls.get(expr.id);
    if (resolved === undefined) return constantPlan(new Failure(`no such overload: ${expr.name}`));
    return this.#function(expr, resolved);
  }

  #function(expr: CallExpr, resolved: ResolvedCall): Plan {
    const args = expr.args.map((arg) => this.plan(arg));
    if (expr.target !== undefined && !resolved.isNamespaced) args.unshift(this.plan(expr.target));
    const plan = planMembership(resolved, args) ?? planCall(resolved, args);
    const value = plan.constant?.value;
    if (value instanceof Failure) this.#problem ??= value.message;
    return plan;
  }

  #index(expr: CallExpr): Plan {
    const [operand, key] = expr.args.map((arg) => this.plan(arg));
    if (operand === undefined || key === undefined) return constantPlan(new Failure('no such overload'));
    const base = baseOf(operand);
    const from = base.bare ?? base.run;
    const isConstant = key.constant !== undefined;
    const isOptional = expr.name !== '_[_]';
    // As in cel-go, an optional selection by an attribute costs that attribute only if there is a value.
    const byAttribute = baseOf(key);
    const keyStep = isConstant ? key.run : ((isOptional ? byAttribute.bare : undefined) ?? byAttribute.run);
    const isFree = byAttribute.run === byAttribute.bare;
    const cost = isConstant || isOptional || isFree ? 1 : 0;
    const next: Step = (frame) => {
      const target = from(frame);
      if (target instanceof Failure) return target;
      const index = keyStep(frame);
      if (index instanceof Failure) return index;
      if (!isOptional) {
        frame.meter.spend(cost);
        return select(target, index);
      }
      const found = selectOptional(target, index);
      if (found instanceof Optional && found.value !== undefined) frame.meter.spend(cost);
      return found;
    };
    return withBase(base, next);
  }

  #list(expr: ListExpr): Plan {
    const elements = expr.elements.map(({ value, optional }) => ({ plan: this.plan(value), optional }));
    if (elements.every(({ plan, optional }) => plan.constant !== undefined && !optional)) {
      const values = elements.map(({ plan }) => plan.constant?.value ?? null);
      const failure = values.find((value) => value instanceof Failure);
      if (failure instanceof Failure) return constantPlan(failure);
      return constantPlan(new ArrayList(values.filter(isValue)));
    }
    return {
      run: (frame) => {
        const items: Value[] = [];
        for (const { plan, optional } of elements) {
          const value = plan.run(frame);
          if (value instanceof Failure) {
            frame.meter.spend(listCost);
            return value;
          }
          if (!optional) items.push(value);
          else if (!(value instanceof Optional))
            return new Failure('cannot initialize optional list element from non-optional value');
          else if (value.value !== undefined) items.push(value.value);
        }
        frame.meter.spend(listCost);
        return new ArrayList(items);
      },
    };
  }

  #map(expr: MapExpr): Plan {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    const build = (read: (plan: Plan) => Value | Failure): EntryMap | Failure => {
      const built = new Map<MapKey, readonly [Value, Value]>();
      for (const entry of entries) {
        const key = read(entry.key);
        if (key instanceof Failure) return key;
        let value = read(entry.value);
        if (value instanceof Failure) return value;
        if (entry.optional) {
          if (!(value instanceof Optional)) {
            return new Failure(`cannot initialize optional entry '${formatKey(key)}' from non-optional value`);
          }
          if (value.value === undefined) continue;
          value = value.value;
        }
        const own = keyOf(key);
        if (own === undefined) return new Failure('unsupported key type');
        built.set(own, [key, value]);
      }
      return new EntryMap(built);
    };
    const isConstant = entries.every(
      ({ key, value, optional }) => key.constant !== undefined && value.constant !== undefined && !optional,
    );
    if (isConstant) return constantPlan(build((plan) => plan.constant?.value ?? null));
    return {
      run: (frame) => {
        const map = build((plan) => plan.run(frame));
        frame.meter.spend(mapCost);
        return map;
      },
    };
  }

  #struct(expr: StructExpr): Plan {
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, plan: this.plan(value), optional }));
    const type = this.#checked.typeOf(expr);
    return {
      run: (frame) => {
        const values = new Map<string, Value>();
        for (const { name, plan, optional } of fields) {
          const value = plan.run(frame);
          if (value instanceof Failure) return value;
          if (!optional) values.set(name, value);
          else if (value instanceof Optional && value.value !== undefined) values.set(name, value.value);
        }
        frame.meter.spend(structCost);
        return new StructValue(type, values);
      },
    };
  }

  #comprehension(expr: ComprehensionExpr): Plan {
    const range = this.plan(expr.range);
    const init = this.plan(expr.accuInit);
    const [accu, first, second] = [this.#slotCount, this.#slotCount + 1, this.#slotCount + 2];
    this.#slotCount += 3;
    return this.#with([[expr.accuVar, accu]], () => {
      const variables: [string, number][] = [[expr.iterVar, first]];
      if (expr.iterVar2 !== undefined) variables.push([expr.iterVar2, second]);
      const loop = this.#with(variables, () => ({ condition: this.plan(expr.condition), step: this.plan(expr.step) }));
      const result = this.plan(expr.result);
      const slots = { accu, first, second: expr.iterVar2 === undefined ? undefined : second };
      return planFold({ range, init, ...loop, result, slots });
    });
  }

  #with<T>(variables: readonly (readonly [string, number])[], plan: () => T): T {
    for (const [name, slot] of variables) {
      const stack = this.#slots.get(name);
      if (stack === undefined) this.#slots.set(name, [slot]);
      else stack.push(slot);
    }
    const planned = plan();
    for (const [name] of variables) this.#slots.get(name)?.pop();
    return planned;
  }
}

/** A selection as a plan, which is an attribute if its operand is one. */
function withBase(base: Plan, bare: Step): Plan {
  // A ternary is an attribute that costs nothing itself.
  if (base.run === base.bare) return { run: bare, bare };
  return attributePlan(bare);
}
