import { Failure, noSuchOverload } from '../values/value.js';
import { constantPlan, type Plan, type Step } from './step.js';

/** `&&` and `||`: a term that decides absorbs the errors of the others. */
export function planJunction(isAnd: boolean, terms: readonly Plan[]): Plan {
  const decides = !isAnd;
  return {
    run: (frame) => {
      let failure: Failure | undefined;
      for (const term of terms) {
        const value = term.run(frame);
        if (value === decides) return decides;
        if (typeof value !== 'boolean') failure ??= value instanceof Failure ? value : noSuchOverload;
      }
      return failure ?? isAnd;
    },
  };
}

function branch(plan: Plan | undefined): Step {
  return plan?.bare ?? plan?.run ?? (() => noSuchOverload);
}

/** `a ? b : c`: an attribute that costs nothing itself, nor do its branches if they are attributes. */
export function planTernary(args: readonly Plan[]): Plan {
  const [condition, truthy, falsy] = args;
  if (condition === undefined) return constantPlan(noSuchOverload);
  const yes = branch(truthy);
  const no = branch(falsy);
  const run: Step = (frame) => {
    const value = condition.run(frame);
    if (value === true) return yes(frame);
    if (value === false) return no(frame);
    return value instanceof Failure ? value : noSuchOverload;
  };
  return { run, bare: run };
}
