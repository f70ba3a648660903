import { explore } from './crash-points/explore.js';
import { subjects } from './crash-points/subjects.js';
import { runInformerSoak } from './informer/soak.js';
import { runOperatorScenario } from './operator/scenario.js';
import type { Report } from './report.js';

/** What can be broken, in the order in which it is. */
export const scenarios = ['crash-points', 'operator', 'informer'] as const;
export type ScenarioName = (typeof scenarios)[number];

/** Options of {@link runChaos}. */
export interface ChaosOptions {
  /** How long things are broken, in all. What time it takes to settle comes on top. */
  readonly seconds: number;
  readonly seed: number;
  /** @default all */
  readonly only?: readonly ScenarioName[];
  readonly applications: number;
  /** How often the operator is killed. @default one for every two seconds of its share, at most 50 */
  readonly kills?: number;
  readonly faultsPerSecond: number;
  readonly editsPerSecond: number;
  readonly report: Report;
}

/** Runs the scenarios one after the other, each for its share of the time. */
export async function runChaos(options: ChaosOptions): Promise<void> {
  const { seconds, seed, only = scenarios, report } = options;
  const timed = only.filter((name) => name !== 'crash-points').length;
  const share = seconds / Math.max(1, timed);
  report.line(`seed ${seed}`);
  for (const name of only)
    switch (name) {
      case 'crash-points': {
        const explored = [
          ...(await explore({ subjects, report, twice: seconds >= 60 })),
          ...(await explore({ subjects, report, reads: 'cached' })),
        ];
        const tried = explored.reduce((sum, each) => sum + each.tried, 0);
        report.line(`crash-points: ${explored.length} flows, ${tried} interruptions`);
        break;
      }
      case 'operator':
        await runOperatorScenario({
          ...options,
          seconds: share,
          kills: options.kills ?? Math.min(50, Math.floor(share / 2)),
        });
        break;
      case 'informer':
        await runInformerSoak({ seed, seconds: share, report });
        break;
    }
}
