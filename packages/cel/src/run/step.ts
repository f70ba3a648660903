import type { CallContext } from '../check/functions.js';
import type { Failure, Value } from '../values/value.js';

/** The state of one evaluation. */
export interface Frame extends CallContext {
  /** The value of a declared variable. */
  readonly variable: (name: string) => Value | Failure;
  /** The variables of folds, by slot. */
  readonly locals: (Value | Failure | undefined)[];
}

/** One node of a program, ready to run. */
export type Step = (frame: Frame) => Value | Failure;

/**
 * A planned node. cel-go folds a name with its selections into one attribute, which costs one besides its selections,
 * and constants cost nothing. The plan distinguishes both kinds, so that costs are the same.
 */
export interface Plan {
  readonly run: Step;
  /** Value of an attribute without the cost of the attribute itself. */
  readonly bare?: Step;
  /** Value of a constant. */
  readonly constant?: { readonly value: Value | Failure };
}

/** A plan that always gives the same value, at no cost. */
export function constantPlan(value: Value | Failure): Plan {
  return { run: () => value, constant: { value } };
}

/** An attribute, which is a name or a selection from a value. */
export function attributePlan(bare: Step): Plan {
  return {
    bare,
    run: (frame) => {
      const value = bare(frame);
      frame.meter.spend(1);
      return value;
    },
  };
}

/** Operand of a selection from this plan, which is an attribute as it is, or any other plan at a cost of one. */
export function baseOf(plan: Plan): Plan {
  return plan.bare === undefined ? attributePlan(plan.run) : plan;
}
