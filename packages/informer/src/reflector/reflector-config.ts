/** What the reflector's transitions depend on besides what happens. */
export interface ReflectorConfig {
  /** Whether streaming is worth a try. */
  readonly watchList: boolean;
  /** Page size of lists; unset: by client-go's rules. */
  readonly pageSize: number | undefined;
  /** How long an InternalError within a stream is answered by reopening the watch. */
  readonly maxInternalErrorRetryMs: number;
  readonly backoff: {
    readonly initialMs: number;
    readonly factor: number;
    readonly maxMs: number;
    /** The backoff starts over after this long without any. */
    readonly resetMs: number;
  };
}

/** client-go's numbers: 0.8 s, doubled up to 30 s, each sleep up to twice as long by jitter. */
export const defaultReflectorConfig: ReflectorConfig = {
  watchList: true,
  pageSize: undefined,
  maxInternalErrorRetryMs: 0,
  backoff: { initialMs: 800, factor: 2, maxMs: 30_000, resetMs: 120_000 },
};
