import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { HoursLog } from '../src/hours-log.js';

it('goes on with seeds that no run has had, over commits and processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kctl-hours-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'hours.json');
  const first = new HoursLog(file);
  const run = first.runOf('abc1234');
  run.records['probe'] = { seeds: [10, 11], hours: 2.4, faults: 700, violations: [{ seed: 11, rule: 'convergence' }] };
  run.cpuSeconds = 3;
  first.save();
  const second = new HoursLog(file);
  expect([second.hours, second.nextSeed('probe', 1), second.nextSeed('probe', 50)]).toEqual([2.4, 12, 50]);
  expect(second.nextSeed('workbench', 1)).toBe(1);
  expect(second.runOf('abc1234').cpuSeconds).toBe(3);
  second.runOf('def5678').records['probe'] = { seeds: [12], hours: 1.2, faults: 350, violations: [] };
  second.save();
  const text = readFileSync(file.replace('.json', '.md'), 'utf8');
  expect(text).toContain('4 of the 10,000 hours');
  expect(text).toContain('## abc1234\n\n| operator | seeds |');
  expect(text).toContain('| probe | 10 to 11 | 2.4 | 700 | convergence (seed 11) |');
  expect(text).toContain('| probe | 12 to 12 | 1.2 | 350 | none |');
});
