import { createConsoleLogger, setupSignalHandler } from '@kctl/runtime';
import { createDeployer } from './receiver.js';

const logger = createConsoleLogger({ format: 'text' });
try {
  const deployer = await createDeployer({
    manager: { logger },
    namespace: process.env['POD_NAMESPACE'] ?? 'default',
    port: Number(process.env['PORT'] ?? 8088),
  });
  await deployer.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
