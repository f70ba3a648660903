import type { OptionNames } from '@kctl/options';
import { numberProblem, optionProblems } from '@kctl/options';

/**
 * Times of the back-off between attempts. Each is multiplied by the factor, and lasts up to twice as long by jitter.
 */
export interface ReflectorBackoff {
  /** @default 800 */
  readonly initialMs?: number;
  /** @default 2 */
  readonly factor?: number;
  /** @default 30_000 */
  readonly maxMs?: number;
  /** The back-off starts over after this long without any. @default 120_000 */
  readonly resetMs?: number;
}

/** The options of a reflector that decide its transitions. */
export interface ReflectorConfigOptions {
  /** Back-off between attempts. @default client-go's */
  readonly backoff?: ReflectorBackoff;
  /**
   * How long an InternalError within a stream is answered by reopening the watch, in ms, before it counts as a failure.
   *
   * @default 0 (never)
   */
  readonly maxInternalErrorRetryMs?: number;
  /** Starts by streaming (WatchList) if the ListerWatcher supports it. @default true */
  readonly watchList?: boolean;
  /** @default 500, by client-go's rules; set it to page always */
  readonly pageSize?: number;
}

/** Inputs of the reflector's transitions besides the events. */
export interface ReflectorConfig extends Required<Omit<ReflectorConfigOptions, 'pageSize' | 'backoff'>> {
  /** Page size of lists; if unset, by client-go's rules. */
  readonly pageSize: number | undefined;
  readonly backoff: Required<ReflectorBackoff>;
}

/** client-go's numbers: 0.8 s, doubled up to 30 s, each sleep up to twice as long by jitter. */
export const defaultReflectorConfig: ReflectorConfig = {
  watchList: true,
  pageSize: undefined,
  maxInternalErrorRetryMs: 0,
  backoff: { initialMs: 800, factor: 2, maxMs: 30_000, resetMs: 120_000 },
};

/** The options with every choice made. */
export function reflectorConfigOf(options: ReflectorConfigOptions): ReflectorConfig {
  const { backoff = {} } = options;
  const defaults = defaultReflectorConfig.backoff;
  return {
    watchList: options.watchList ?? true,
    pageSize: options.pageSize,
    maxInternalErrorRetryMs: options.maxInternalErrorRetryMs ?? defaultReflectorConfig.maxInternalErrorRetryMs,
    backoff: {
      initialMs: backoff.initialMs ?? defaults.initialMs,
      factor: backoff.factor ?? defaults.factor,
      maxMs: backoff.maxMs ?? defaults.maxMs,
      resetMs: backoff.resetMs ?? defaults.resetMs,
    },
  };
}

const backoffNames: OptionNames<ReflectorBackoff> = { initialMs: true, factor: true, maxMs: true, resetMs: true };

/** A sentence for each of these options that is not valid. */
export function reflectorConfigProblems({
  backoff,
  maxInternalErrorRetryMs,
  pageSize,
}: ReflectorConfigOptions): string[] {
  const unknown = optionProblems(backoff, backoffNames, 'backoff');
  if (unknown.length > 0) return unknown;
  const times = Object.entries(backoff ?? {}).map(([name, value]) =>
    value === undefined ? undefined : numberProblem(`backoff.${name}`, value, { least: 1 }),
  );
  return [
    ...times,
    maxInternalErrorRetryMs === undefined
      ? undefined
      : numberProblem('maxInternalErrorRetryMs', maxInternalErrorRetryMs),
    pageSize === undefined ? undefined : numberProblem('pageSize', pageSize, { least: 1, integer: true }),
  ].filter((problem) => problem !== undefined);
}
