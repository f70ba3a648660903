import { describe, expect, it } from 'vitest';
import { deprecationsOf } from '../src/doctor/served-findings.js';

const cronJobs = { group: 'batch', version: 'v1beta1', plural: 'cronjobs', reason: 'for(CronJob)' };
const messages = (resource: typeof cronJobs, minor: number): readonly string[] =>
  deprecationsOf(resource, minor).map(({ message }) => message);

describe('a built-in version that Kubernetes removes', () => {
  it('is named from the release on that deprecates it', () => {
    expect(messages(cronJobs, 20)).toEqual([]);
    expect(messages(cronJobs, 21)).toEqual([
      'batch/v1beta1 CronJob, which for(CronJob) needs, is deprecated since 1.21, and not served from 1.25 on: use batch/v1 CronJob',
    ]);
    expect(messages({ ...cronJobs, version: 'v1' }, 99)).toEqual([]);
  });

  it.each([
    ['networking.k8s.io', 'v1beta1', 'ingresses', 19],
    ['policy', 'v1beta1', 'poddisruptionbudgets', 21],
    ['apps', 'v1beta2', 'deployments', 9],
    ['apiextensions.k8s.io', 'v1beta1', 'customresourcedefinitions', 16],
  ])('is found by its resource: %s/%s %s', (group, version, plural, minor) => {
    expect(messages({ group, version, plural, reason: 'x' }, minor)).toHaveLength(1);
    expect(messages({ group, version, plural, reason: 'x' }, minor - 1)).toEqual([]);
  });
});
