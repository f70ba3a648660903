import type { JobTemplateSpec } from '@kctl/apimachinery/kinds/batch/v1';

/** Settings of an operator in a test: no ports that two could want, no lines of a log. */
export const quiet = { healthProbeBindAddress: '0', metricsBindAddress: '0', logLevel: 'error' } as const;

/** The Job that a CronJob of a test runs. */
export const jobTemplate: JobTemplateSpec = {
  metadata: { labels: { app: 'hello' } },
  spec: {
    template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'hello', image: 'busybox:1' }] } },
  },
};
