import type { ResolvedCall } from '../check/checker.js';
import type { Overload } from '../check/functions.js';
import { callCost } from '../cost/actual.js';
import { isNumeric, equalValues } from '../values/equal.js';
import { Failure, ListValue, noSuchOverload, Uint, type Value } from '../values/value.js';
import { Meter } from '../meter.js';
import { constantPlan, type Frame, type Plan } from './step.js';
import { fits, typeName, typeOfValue } from '../values/type-of.js';

const operator = /^(?:_.*_|-_|!_|@in)$/;
/** Conversions of constants are made once, when the program is, and cost nothing then. */
const conversions = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);
/** These take a failure as an argument. */
const lenient = new Set(['@not_strictly_false']);

/** cel-go compiles these with their expression, if that is constant, into a call of any number of arguments. */
const withRegex = new Set(['matches', 'find', 'findAll']);

/**
 * Whether a call evaluates its arguments one after another up to the first failure, which calls of one or two arguments
 * do not.
 */
function isVariadic(name: string, args: readonly Plan[]): boolean {
  return args.length > 2 || name === 'format' || (withRegex.has(name) && args[1]?.constant !== undefined);
}

function mismatch(name: string, args: readonly Value[]): Failure {
  if (operator.test(name)) return noSuchOverload;
  return new Failure(`no such overload: ${name}(${args.map((arg) => typeName(typeOfValue(arg))).join(', ')})`);
}

function matching(overloads: readonly Overload[], args: readonly Value[]): Overload | undefined {
  return overloads.find(({ params }) => params.every((param, index) => fits(param, args[index] ?? null)));
}

function invoke(resolved: ResolvedCall, args: readonly Value[], frame: Frame): Value | Failure {
  const { name, overloads } = resolved;
  const overload = matching(overloads, args);
  const result = overload === undefined ? mismatch(name, args) : overload.call(args, frame);
  spendFor(resolved, args, result, frame);
  return result;
}

function spendFor(
  resolved: ResolvedCall,
  args: readonly (Value | Failure)[],
  result: Value | Failure,
  frame: Frame,
): void {
  const { name, overloads } = resolved;
  // As in cel-go, a call whose overload is not known before run time costs as an unknown one.
  const known = overloads.length === 1 ? overloads[0]?.id : undefined;
  frame.meter.spend(callCost({ name, overload: known ?? '', args, result }));
}

function planLenient(arg: Plan): Plan {
  return {
    run: (frame) => {
      const value = arg.run(frame);
      frame.meter.spend(1);
      return value !== false;
    },
  };
}

/** `or` and `orValue` evaluate what stands behind them only when it is needed. */
function planOptionalChain(resolved: ResolvedCall, args: readonly Plan[]): Plan | undefined {
  if (resolved.name !== 'or' && resolved.name !== 'orValue') return undefined;
  const [left, right] = args;
  if (left === undefined || right === undefined) return undefined;
  return {
    run: (frame) => {
      const value = left.run(frame);
      if (value instanceof Failure) return value;
      const chosen = resolved.overloads[0]?.call([value], frame);
      return chosen === undefined || chosen === noSuchOverload ? right.run(frame) : chosen;
    },
  };
}

/** Plans a call of a function. */
export function planCall(resolved: ResolvedCall, args: readonly Plan[]): Plan {
  const [first] = args;
  if (lenient.has(resolved.name) && first !== undefined) return planLenient(first);
  const chain = planOptionalChain(resolved, args);
  if (chain !== undefined) return chain;
  const stopsEarly = isVariadic(resolved.name, args);
  const run = (frame: Frame): Value | Failure => {
    const values: (Value | Failure)[] = [];
    let failure: Failure | undefined;
    for (const arg of args) {
      const value = arg.run(frame);
      values.push(value);
      if (!(value instanceof Failure)) continue;
      failure ??= value;
      // As in cel-go, a call that is not reached costs nothing.
      if (stopsEarly && values.length < args.length) return failure;
    }
    if (failure === undefined) return invoke(resolved, values.filter(isValue), frame);
    spendFor(resolved, values, failure, frame);
    return failure;
  };
  if (args.length !== 1 || first?.constant === undefined || !conversions.has(resolved.name)) return { run };
  const { value } = first.constant;
  if (value instanceof Failure) return constantPlan(value);
  const overload = matching(resolved.overloads, [value]);
  // A constant list or map may be long. Its dyn() is free, everything else takes plain values.
  return constantPlan(
    overload === undefined ? mismatch(resolved.name, [value]) : overload.call([value], { meter: new Meter(Infinity) }),
  );
}

function isValue(value: Value | Failure): value is Value {
  return !(value instanceof Failure);
}

/** `x in ['a', 'b']` looks a constant up in constants at no cost. */
export function planMembership(resolved: ResolvedCall, args: readonly Plan[]): Plan | undefined {
  const [item, list] = args;
  if (resolved.name !== '@in' || resolved.overloads.length !== 1 || resolved.overloads[0]?.id !== 'in_list')
    return undefined;
  const constants = list?.constant?.value;
  if (item === undefined || !(constants instanceof ListValue)) return undefined;
  const values = Array.from(constants).filter(isValue);
  if (values.length === 0) return constantPlan(false);
  const isPlain = (value: Value): boolean =>
    typeof value === 'string' || typeof value === 'boolean' || isNumeric(value) || value instanceof Uint;
  if (!values.every(isPlain)) return undefined;
  const plain = new Set(values.filter((value) => !isNumeric(value)));
  const numbers = values.filter(isNumeric);
  return {
    run: (frame) => {
      const value = item.run(frame);
      if (value instanceof Failure) return value;
      if (!isNumeric(value)) return plain.has(value);
      return numbers.some((number) => equalValues(number, value, frame.meter) === true);
    },
  };
}
