import type { RunResult } from './run-result.js';
import { formatStep, formatTime } from './timeline.js';

/** How many steps a report shows. */
const shownSteps = 40;

/** Formats a failing run, with the rule, the remedy, the last steps about the object, and how to run it again. */
export function formatFailure(result: RunResult, original?: RunResult): string {
  const { violation, seed, steps, plan } = result;
  if (violation === undefined) return `seed ${seed}: no rule is broken`;
  const about = violation.object?.split(' ').at(-1);
  const concerned = steps.filter(({ object, who, at }) => {
    if (who === 'fault' || who === 'rule' || object === '') return true;
    // Objects that the server creates at the start are the same in each world.
    return about === undefined ? at > 0 || who !== 'server' : object.endsWith(about);
  });
  const shrunk =
    original === undefined || original.plan.length === 0
      ? []
      : [
          `shrunk from ${original.plan.length} faults to ${plan.length}, and to ${formatTime(violation.at)} of virtual time`,
        ];
  return [
    `seed ${seed} breaks the rule ${violation.rule} at ${formatTime(violation.at)}${violation.object === undefined ? '' : ` (${violation.object})`}`,
    `  ${violation.message}`,
    '',
    ...shrunk,
    ...(plan.length > 0 && plan.length <= 12
      ? [`faults: ${plan.map(({ at, fault }) => `${fault} at ${formatTime(at)}`).join(', ')}`]
      : []),
    `run it again: KCTL_SEED=${seed}`,
    '',
    ...concerned.slice(-shownSteps).map(formatStep),
  ].join('\n');
}
