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
 * A planned node. cel-go folds a name with the selections behind it into one attribute, which costs one beside its
 * selections, and constants cost nothing: the plan keeps both kinds apart, so that costs come out the same.
 */
export interface Plan {
  readonly run: Step;
  /** Of an attribute: its value without the cost of the attribute itself. */
  readonly bare?: Step;
  /** Of a constant: its value. */
  readonly constant?: { readonly value: Value | Failure };
}

/** A plan that always gives the same value, at no cost. */
export function constantPlan(value: Value | Failure): Plan {
  return { run: () => value, constant: { value } };
}

/** An attribute: a name, or a selection behind something. */
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

/** What a selection behind this plan starts from: an attribute as it is, everything else for a cost of one. */
export function baseOf(plan: Plan): Plan {
  return plan.bare === undefined ? attributePlan(plan.run) : plan;
}
