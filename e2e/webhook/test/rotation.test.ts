import { expect, it } from 'vitest';
import { runRotation } from '../src/rotation.js';

const server = process.env['KCTL_TEST_SERVER'] === 'real' ? 'real' : 'embedded';
const rate = 200;

it(`fails none of ${rate} admissions a second while certificates and authorities change (${server})`, async () => {
  const report = await runRotation({ server, seconds: 45, rate });
  console.log(JSON.stringify(report));
  expect(report.failures).toEqual([]);
  expect(report.failedHandshakes).toEqual([]);
  expect(report.wronglyAccepted).toBe(0);
  expect(report.denied).toBeGreaterThan(200);
  // Two rotations, each with a time of overlap in all three places; serving certificates change with them.
  expect(report.authorities).toBeGreaterThanOrEqual(3);
  expect(report.certificates).toBeGreaterThanOrEqual(3);
  expect(report.overlaps).toBeGreaterThan(6);
  // Of two replicas that find the same thing to do, one does it.
  expect(report.secretWrites.filter((reason) => reason.includes('a new one is trusted beside it')).length).toBe(
    report.authorities - 1,
  );
  expect(report.reviewsPerSecond).toBeGreaterThanOrEqual(rate);
});
