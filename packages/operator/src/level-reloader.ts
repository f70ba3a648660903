import { readFileSync } from 'node:fs';
import type { Runnable } from '@kctl/manager';
import { type ConsoleLogger, type LogLevel } from '@kctl/telemetry';
import { messageOf } from '@kctl/telemetry/internal';
import { sleep, type Clock } from '@kctl/wait';
import { logLevels, standardDefaults } from './standard-settings.js';
import { readYaml } from '@kctl/yaml';

/** How often the file is read, in ms. A ConfigMap takes up to a minute to reach a pod anyway. */
export const reloadMs = 10_000;

/** Options of {@link createLevelReloader}. */
export interface LevelReloaderOptions {
  readonly file: string;
  readonly logger: ConsoleLogger;
  readonly clock: Clock;
  /** @default from the file system */
  readonly readFile?: (path: string) => string;
}

/** Takes over the log level of a file while the operator runs. A file that cannot be read leaves the level as it is. */
export function createLevelReloader({
  file,
  logger,
  clock,
  readFile = (path) => readFileSync(path, 'utf8'),
}: LevelReloaderOptions): Runnable {
  const check = (): void => {
    const level = levelIn(readFile(file));
    if (level === undefined || level === logger.level) return;
    const before = logger.level;
    logger.level = level;
    logger.info('log level changed', { file, before, level });
  };
  return {
    name: 'log level',
    needLeaderElection: false,
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await sleep(reloadMs, { clock, signal });
          check();
        } catch (error) {
          if (signal.aborted) return;
          logger.warn('the settings file cannot be read; the log level stays', { file, error: messageOf(error) });
        }
      }
    },
  };
}

function levelIn(text: string): LogLevel | undefined {
  const content: unknown = readYaml(text).value;
  const given: unknown =
    typeof content === 'object' && content !== null && 'logLevel' in content
      ? content.logLevel
      : standardDefaults.logLevel;
  if (!isLevel(given))
    throw new TypeError(`logLevel ${JSON.stringify(given)} is not valid: expected ${logLevels.join(', ')}`);
  return given;
}

function isLevel(value: unknown): value is LogLevel {
  return typeof value === 'string' && logLevels.includes(value);
}
