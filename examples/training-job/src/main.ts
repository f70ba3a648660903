import { createConsoleLogger, setupSignalHandler } from '@kctl/runtime';
import { createTrainingOperator } from './reconciler.js';

const logger = createConsoleLogger({ format: 'text' });
try {
  const manager = await createTrainingOperator({ logger });
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
