import { numberOption, requireOptions, type OptionNames } from '@kctl/options';
import type { CostEstimate } from './cost/estimate.js';
import { CelCostExceededError, CelEvaluationError } from './errors.js';
import { Meter } from './meter.js';
import type { Plan } from './run/step.js';
import {
  Duration,
  Failure,
  LibraryValue,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values/value.js';

/** Turns what is given for a variable into a value. */
export type VariableReader = (raw: unknown) => Value | Failure;

/** Default cost limit of one evaluation, the API server's limit per call. */
export const defaultCostLimit = 1_000_000;

/** Result of an evaluation. */
export interface CelResult {
  /** The value: JSON values as they are in JavaScript, ints as `bigint`, everything else as a class of this package. */
  readonly value: Value;
  /** Cost of the evaluation, in cel-go's numbers. */
  readonly cost: number;
}

/** Options of {@link CelProgram.evaluate}. */
export interface CelEvaluateOptions {
  /** Cost at which the evaluation stops with {@link CelCostExceededError}. Default 1,000,000, as in the API server. */
  readonly costLimit?: number;
}

/**
 * The values of the variables: JSON, or values of this package. A function is called at the first use of its variable
 * and gives the value then; it may throw a {@link CelEvaluationError}. A variable that is not given is an error when an
 * expression reads it.
 */
export type CelActivation = Readonly<Record<string, unknown>>;

/** A compiled expression. Evaluating it keeps nothing; it may be used any number of times. */
export interface CelProgram {
  /** The type of the expression: `bool`, `list(string)`, `dyn`. */
  readonly resultType: string;
  /** The variables that the expression reads. */
  readonly variables: ReadonlySet<string>;
  /**
   * Evaluates the expression.
   *
   * @throws CelEvaluationError when the evaluation ends in an error (`no such key: foo`).
   * @throws CelCostExceededError when it costs more than its limit.
   */
  evaluate(activation: CelActivation, options?: CelEvaluateOptions): CelResult;
  /** Returns the minimum and maximum cost of an evaluation, from the sizes that schemas allow. */
  estimateCost(): CostEstimate;
}

const evaluateOptions: OptionNames<CelEvaluateOptions> = { costLimit: numberOption({ orInfinity: true }) };

interface Parts {
  readonly plan: Plan;
  readonly slots: number;
  readonly readers: ReadonlyMap<string, VariableReader>;
  readonly resultType: string;
  readonly variables: ReadonlySet<string>;
  readonly estimate: () => CostEstimate;
}

function isValue(raw: unknown): raw is Value {
  return (
    raw instanceof ListValue ||
    raw instanceof MapValue ||
    raw instanceof LibraryValue ||
    raw instanceof StructValue ||
    raw instanceof Optional ||
    raw instanceof Timestamp ||
    raw instanceof Duration ||
    raw instanceof Uint ||
    raw instanceof TypeValue ||
    raw instanceof Uint8Array
  );
}

/** Reads the variables of one evaluation, each once. */
class Variables {
  readonly #activation: CelActivation;
  readonly #readers: ReadonlyMap<string, VariableReader>;
  readonly #values = new Map<string, Value | Failure>();

  constructor(activation: CelActivation, readers: ReadonlyMap<string, VariableReader>) {
    this.#activation = activation;
    this.#readers = readers;
  }

  readonly get = (name: string): Value | Failure => {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = this.#read(name);
    this.#values.set(name, value);
    return value;
  };

  #read(name: string): Value | Failure {
    const reader = this.#readers.get(name);
    const given = Object.hasOwn(this.#activation, name) ? this.#activation[name] : undefined;
    if (reader === undefined || given === undefined) return new Failure(`no such attribute(s): ${name}`);
    const raw: unknown = typeof given === 'function' ? Reflect.apply(given, undefined, []) : given;
    if (raw instanceof Failure || isValue(raw)) return raw;
    return reader(raw);
  }
}

/** The program of an expression. */
export class Program implements CelProgram {
  readonly resultType: string;
  readonly variables: ReadonlySet<string>;
  readonly #parts: Parts;
  #estimate: CostEstimate | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.resultType = parts.resultType;
    this.variables = parts.variables;
  }

  estimateCost(): CostEstimate {
    this.#estimate ??= this.#parts.estimate();
    return this.#estimate;
  }

  evaluate(activation: CelActivation, options: CelEvaluateOptions = {}): CelResult {
    requireOptions('CelProgram.evaluate', options, evaluateOptions);
    const { plan, slots, readers } = this.#parts;
    const meter = new Meter(options.costLimit ?? defaultCostLimit);
    const locals = new Array<Value | Failure | undefined>(slots).fill(undefined);
    const value = run(() => plan.run({ meter, locals, variable: new Variables(activation, readers).get }));
    if (value instanceof Failure) throw new CelEvaluationError(value.message, meter.cost);
    return { value, cost: meter.cost };
  }
}

function run(evaluate: () => Value | Failure): Value | Failure {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof CelCostExceededError) throw error;
    if (error instanceof CelEvaluationError) return new Failure(error.message);
    // Data or expressions nested deeper than the stack are an error of this evaluation only.
    if (error instanceof RangeError) return new Failure('value or expression nests too deeply');
    throw error;
  }
}
