import { Option } from 'commander';
import type { Definer } from '../definer.js';
import { failOnChanges, plan, type PlanOptions } from './plan.js';
import { formatPlan } from './format-plan.js';
import { ownCommand } from '../own-command.js';
import { defaultTimeoutMs } from '../deploy/wait-for.js';
import { secondsOf } from '../seconds-of.js';

interface GivenOptions extends PlanOptions {
  readonly json?: boolean;
  readonly timeout: number;
}

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
    .addOption(
      new Option('--timeout <seconds>', 'how long all requests together may take')
        .default(defaultTimeoutMs / 1000)
        .argParser(secondsOf),
    )
    .action(async (target: string | undefined, { json, timeout, ...given }: GivenOptions) => {
      const timeoutMs = timeout * 1000;
      const outcome = await plan(io, { ...given, timeoutMs, ...(target === undefined ? {} : { target }) });
      if (json === true) io.out(`${JSON.stringify(outcome)}\n`);
      else for (const [text, style] of formatPlan(outcome)) io.out(`${text}\n`, style);
      failOnChanges(outcome);
    });
}
