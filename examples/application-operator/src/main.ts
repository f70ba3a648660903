import { createConsoleLogger, setupSignalHandler } from '@kctl/runtime';
import { webhookOn } from './conversion-webhook.js';
import { createOperator } from './operator.js';

const leaseDurationMs = Number(process.env['LEASE_DURATION_MS'] ?? 15_000);
const namespace = process.env['WEBHOOK_NAMESPACE'];
const logger = createConsoleLogger({ format: 'text' });
try {
  const manager = await createOperator({
    logger,
    leaderElection: {
      name: 'application-operator',
      namespace: process.env['POD_NAMESPACE'] ?? 'default',
      leaseDurationMs,
      renewDeadlineMs: (leaseDurationMs * 2) / 3,
      retryPeriodMs: (leaseDurationMs * 2) / 15,
    },
    health: { port: Number(process.env['HEALTH_PORT'] ?? 8081) },
    metricsServer: { port: Number(process.env['METRICS_PORT'] ?? 8080) },
    ...(namespace === undefined
      ? {}
      : { webhook: webhookOn(namespace, { port: Number(process.env['WEBHOOK_PORT'] ?? 9443) }) }),
  });
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
