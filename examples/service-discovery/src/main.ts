import { createConsoleLogger, setupSignalHandler } from '@kctl/runtime';
import { createServiceDiscovery } from './discovery.js';

const logger = createConsoleLogger({ format: 'text' });
try {
  const manager = await createServiceDiscovery({ logger }, process.env['TARGETS_FILE'] ?? 'targets.json');
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
