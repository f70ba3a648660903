import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { clockOption, numberOption, requireOptions, shownValue } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import type { DiscoveryCache, DiscoveryDocument } from '../discovery/discovery-cache.js';

/** Options of {@link createDiscoveryFileCache}. */
export interface DiscoveryFileCacheOptions {
  /**
   * The folder of the files; one folder below it for each server. It is made with the first document.
   *
   * @default `kctl/discovery` below KUBECACHEDIR, else below `~/.kube/cache`
   */
  readonly directory?: string;
  /**
   * How long a document counts, in ms; Infinity keeps it until the mapper is invalidated. @default 21_600_000, which is
   * 6 h, as in kubectl
   */
  readonly ttlMs?: number;
  /** Its wall-clock time is compared with that of the files. @default systemClock */
  readonly clock?: Clock;
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const optionNames: OptionNames<DiscoveryFileCacheOptions> = {
  directory: true,
  ttlMs: numberOption({ orInfinity: true, remedy: '0 reads no file' }),
  clock: clockOption,
  environment: true,
};

const sixHoursMs = 6 * 3_600_000;

/**
 * A cache of discovery documents in files, for programs that run often and briefly, such as command-line tools. Mirrors
 * client-go's `disk.NewCachedDiscoveryClientForConfig`: a kind that is not found is looked for anew on the server, and
 * `mapper.invalidate()` ends the use of the files. Files are written whole or not at all; one that cannot be read or written
 * is as one that is not there.
 *
 * @throws TypeError for an option that is not valid
 *
 * @example
 * ```ts
 * import { createHttpClient, createRestMapper, loadConnection } from '@kctl/client-http';
 * import { createDiscoveryFileCache } from '@kctl/client-http/discovery-cache';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const mapper = createRestMapper({ transport: client.transport, cache: createDiscoveryFileCache() });
 * console.log((await mapper.kindForResource('deploy')).apiVersion);
 * ```
 */
export function createDiscoveryFileCache(options: DiscoveryFileCacheOptions = {}): DiscoveryCache {
  requireOptions('createDiscoveryFileCache', options, optionNames);
  const { environment = process.env, ttlMs = sixHoursMs, clock = systemClock } = options;
  // An empty one counts as not set, because otherwise the folder would be in the working directory.
  const set = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const base = set('KUBECACHEDIR') ?? join(set('HOME') ?? homedir(), '.kube', 'cache');
  const { directory = join(base, 'kctl', 'discovery') } = options;
  if (typeof directory !== 'string' || directory === '')
    throw new TypeError(`createDiscoveryFileCache: directory ${shownValue(directory)} is not valid: expected a path`);
  return {
    read: async (document) => {
      const file = fileOf(directory, document);
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: -Infinity }));
      const ageMs = clock.now() - mtimeMs;
      return ageMs < ttlMs ? await readFile(file, 'utf8').catch(() => undefined) : undefined;
    },
    write: async (document, text) => {
      const file = fileOf(directory, document);
      const partial = `${file}.${randomUUID()}`;
      await mkdir(dirname(file), { recursive: true, mode: 0o750 });
      try {
        await writeFile(partial, text, { mode: 0o600, flag: 'wx' });
        await rename(partial, file);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
    },
  };
}

/** As client-go names them, so that no name leads out of the folder: `host_port`, and the path in one name. */
function fileOf(directory: string, { server, path }: DiscoveryDocument): string {
  const inFolder = (text: string): string => text.replace(/[^\w.-]/g, '_').replace(/^\.+/, '_');
  return join(directory, inFolder(server.replace(/^https?:\/\//, '')), `${inFolder(path.slice(1))}.json`);
}
