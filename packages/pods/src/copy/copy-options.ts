import type { AbortOptions } from '@kctl/client';
import { functionOption, requireOptions, shownType, signalOption, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

/** Options of `copyToPod` and `copyFromPod`. */
export interface CopyOptions extends AbortOptions {
  /** @default that of the annotation `kubectl.kubernetes.io/default-container`, else the first one */
  readonly container?: string;
  /** Called for each file that was copied, with its path at the destination. */
  readonly onFile?: (path: string) => void;
  /** Called with each skipped path, such as symbolic links, devices and sockets. */
  readonly onSkipped?: (path: string) => void;
}

/** Result of a copy. */
export interface CopyResult {
  readonly files: number;
  readonly bytes: number;
}

/** Source and destination of a copy. */
export interface CopyPaths {
  /** A file or a folder. */
  readonly from: string;
  /** Its new path; if that is a folder, a path in it. */
  readonly to: string;
}

const optionNames: OptionNames<CopyOptions> = {
  container: textOption,
  onFile: functionOption,
  onSkipped: functionOption,
  signal: signalOption,
};

/** @throws TypeError naming the option or path that is not valid */
export function checkCopy(what: string, paths: CopyPaths, options: CopyOptions): void {
  requireOptions(what, options, optionNames);
  if (typeof paths !== 'object' || paths === null)
    throw new TypeError(`${what}: the paths are ${shownType(paths)}: expected { from, to }`);
  for (const field of ['from', 'to'] as const)
    if (typeof paths[field] !== 'string' || paths[field] === '')
      throw new TypeError(`${what}: ${field} ${JSON.stringify(paths[field])} is not valid: expected a path`);
}
