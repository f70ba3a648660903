import { describe, expect, it } from 'vitest';
import { runInformerSoak } from '../src/informer/soak.js';
import { runOperatorScenario } from '../src/operator/scenario.js';
import { createReport, type Report } from '../src/report.js';

const seed = 20_261_121;
const tell = ({ violations }: Report): string[] =>
  violations.map(({ message, step, context }) => [`${message} (seed ${seed}, step ${step})`, ...context].join('\n'));

describe('chaos, in short', () => {
  it('leaves the cluster as its users want it when the operator is killed on a failing server', async () => {
    const report = createReport(() => undefined);
    await runOperatorScenario({
      seed,
      seconds: 4,
      minFaults: 25,
      applications: 30,
      kills: 3,
      faultsPerSecond: 15,
      editsPerSecond: 30,
      report,
    });
    expect(tell(report)).toEqual([]);
    expect(report.faults).toBeGreaterThanOrEqual(25);
  });

  it('keeps informers exact on a failing server', async () => {
    const report = createReport(() => undefined);
    await runInformerSoak({ seed, seconds: 4, minFaults: 4, objects: 100, writers: 3, report });
    expect(tell(report)).toEqual([]);
    expect(report.faults).toBeGreaterThanOrEqual(4);
  });
});
