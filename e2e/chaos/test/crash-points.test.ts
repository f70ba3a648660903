import { describe, expect, it } from 'vitest';
import { explore } from '../src/crash-points/explore.js';
import { subjects } from '../src/crash-points/subjects.js';
import { createReport } from '../src/report.js';

describe('crash points', () => {
  it.each(subjects)('$name ends in the same state wherever it was interrupted', async (subject) => {
    const lines: string[] = [];
    const report = createReport((line) => void lines.push(line));
    const explored = await explore({ subjects: [subject], report });
    expect(report.violations.map(({ message, step, context }) => ({ message, step, context }))).toEqual([]);
    console.log(explored);
    expect(report.faults).toBeGreaterThan(20);
  });
});
