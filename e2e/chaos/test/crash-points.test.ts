import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import { Application } from '@kctl/example-application-operator/application.js';
import { explore } from '../src/crash-points/explore.js';
import type { Subject } from '../src/crash-points/subject.js';
import { application, subjects } from '../src/crash-points/subjects.js';
import { createReport, type Report } from '../src/report.js';

const quiet = (): Report => createReport(() => undefined);
const tell = ({ violations }: Report): string[] =>
  violations.map(({ message, step, context }) => [`${message} (${step})`, ...context].join('\n'));

describe('crash points', () => {
  it.each(subjects)('$name ends in the same state wherever it was interrupted', async (subject) => {
    const report = quiet();
    const explored = await explore({ subjects: [subject], report });
    expect(tell(report)).toEqual([]);
    expect(explored.find(({ flow }) => flow === 'create')?.writes).toBeGreaterThanOrEqual(3);
    // Each write of each flow, cut before and after: chaos-pod has the fewest.
    expect(report.faults).toBeGreaterThanOrEqual(36);
  });

  it('ends in the same state when the recovery is interrupted, too', async () => {
    const report = quiet();
    await explore({ subjects: [{ ...application, flows: application.flows.slice(0, 1) }], report, twice: true });
    expect(tell(report)).toEqual([]);
    expect(report.faults).toBeGreaterThan(50);
  });

  it('ends in the same state when it reads from a cache that is behind', async () => {
    const report = quiet();
    await explore({ subjects: [{ ...application, flows: application.flows.slice(1, 2) }], report, reads: 'cached' });
    expect(tell(report)).toEqual([]);
    expect(report.faults).toBeGreaterThanOrEqual(12);
  });

  it('finds a reconciler that forgets what it has made', async () => {
    const careless: Subject = {
      ...application,
      kinds: [Application, ConfigMap],
      flows: application.flows.slice(0, 1),
      start: ({ client }) => {
        return async ({ namespace, name }) => {
          const present = await client.get(Application, { namespace, name });
          if (present.status?.address !== undefined) return;
          const { metadata } = await client.create(ConfigMap, { metadata: { namespace, generateName: 'made-' } });
          const status = { address: metadata.name ?? '' };
          await client.status(Application).patch({ namespace, name }, { type: 'merge', body: { status } });
        };
      },
    };
    const report = quiet();
    await explore({ subjects: [careless], report, patienceMs: 50 });
    expect(report.violations.length).toBeGreaterThan(0);
  });
});
