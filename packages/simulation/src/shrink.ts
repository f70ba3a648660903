import type { PlannedFault } from './faults/fault.js';
import type { CompiledOptions } from './options.js';
import type { RunResult, RunVariation } from './run-result.js';
import { runSeed } from './run.js';

/** How many runs shrinking may take. */
const mostRuns = 60;

/**
 * Searches for a run of the same seed with fewer faults and a shorter duration that breaks the same rule. Halves of the
 * plan are left out, then quarters, down to single faults.
 */
export async function shrinkRun(
  options: CompiledOptions,
  failing: RunResult,
  variation: RunVariation,
): Promise<RunResult> {
  const rule = failing.violation?.rule;
  let best = failing;
  let runs = 0;
  const fails = async (plan: readonly PlannedFault[], faultMs: number): Promise<boolean> => {
    runs++;
    const result = await runSeed(options, failing.seed, { ...variation, plan, faultMs });
    if (result.violation?.rule !== rule) return false;
    best = result;
    return true;
  };
  let faultMs = variation.faultMs ?? options.faultMs;
  let plan = failing.plan.filter(({ at }) => at <= (failing.violation?.at ?? Infinity));
  // The time after the violation takes most of the following runs.
  const soon = (failing.violation?.at ?? Infinity) + 60_000;
  if (soon < faultMs && (await fails(plan, soon))) faultMs = soon;
  else if (plan.length < failing.plan.length) await fails(plan, faultMs);
  for (let parts = 2; plan.length > 0 && runs < mostRuns; ) {
    const size = Math.ceil(plan.length / parts);
    let found = false;
    for (let start = 0; start < plan.length && runs < mostRuns; start += size) {
      const rest = [...plan.slice(0, start), ...plan.slice(start + size)];
      if (!(await fails(rest, faultMs))) continue;
      plan = rest;
      found = true;
      break;
    }
    if (found) parts = Math.max(2, parts - 1);
    else if (size === 1) break;
    else parts = Math.min(plan.length, parts * 2);
  }
  const lastFault = plan.at(-1)?.at ?? 0;
  for (const shorter of [lastFault + 60_000, lastFault + 300_000])
    if (shorter < faultMs && (await fails(plan, shorter))) {
      faultMs = shorter;
      break;
    }
  return best;
}
