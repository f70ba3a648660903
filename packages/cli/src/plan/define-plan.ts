import type { Definer } from '../definer.js';
import { failOnChanges, plan, type PlanOptions } from './plan.js';
import { formatPlan } from './format-plan.js';
import { ownCommand } from '../own-command.js';

/** Adds `kctl plan`. */
export function definePlan({ io, command, onCluster, withMain }: Definer): void {
  withMain(
    onCluster(
      command(
        'plan',
        'show what the operator of this folder would change in a cluster, before it is rolled out',
        ownCommand('plan website/shop --namespace web'),
      ),
    ),
  )
    .argument('[object]', 'kind, or kind/name (default: all objects with declared children)')
    .option('-n, --namespace <name>', 'namespace (default: all; of a named object, that of the context)')
    .option('--json', 'the plan as JSON')
    .action(async (target: string | undefined, { json, ...given }: PlanOptions & { readonly json?: boolean }) => {
      const outcome = await plan(io, { ...given, ...(target === undefined ? {} : { target }) });
      if (json === true) io.out(`${JSON.stringify(outcome)}\n`);
      else for (const [text, style] of formatPlan(outcome)) io.out(`${text}\n`, style);
      failOnChanges(outcome);
    });
}
