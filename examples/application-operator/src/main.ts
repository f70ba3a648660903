import { createConsoleLogger, setupSignalHandler } from '@kctl/runtime';
import { createOperator } from './operator.js';

const logger = createConsoleLogger({ format: 'text' });
try {
  const manager = await createOperator({
    logger,
    leaderElection: { name: 'application-operator', namespace: process.env['POD_NAMESPACE'] ?? 'default' },
    health: { port: Number(process.env['HEALTH_PORT'] ?? 8081) },
    metricsServer: { port: Number(process.env['METRICS_PORT'] ?? 8080) },
  });
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
