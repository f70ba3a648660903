import { createConsoleLogger, setupSignalHandler } from '@kctl/runtime';
import { systemRandom } from '@kctl/wait';
import { createChaos } from './reconciler.js';

const logger = createConsoleLogger({ format: 'text' });
try {
  const manager = await createChaos(
    { logger },
    { random: systemRandom, periodMs: Number(process.env['PERIOD_MS'] ?? 60_000) },
  );
  await manager.run(setupSignalHandler());
} catch (error) {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
