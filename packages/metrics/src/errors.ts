const code = 'KCTL_METRICS_SHAPE';

/** Thrown when a metric is declared again with another shape, or written to with an undeclared label. */
export class MetricShapeError extends TypeError {
  override readonly name = 'MetricShapeError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_METRICS_SHAPE' = code;
  /** Name of the metric. */
  readonly metric: string;

  constructor(metric: string, message: string) {
    super(`metric ${metric}: ${message}`);
    this.metric = metric;
  }
}

/** Whether an error is a {@link MetricShapeError}, also one of another copy of this package. */
export function isMetricShapeError(error: unknown): error is MetricShapeError {
  return error instanceof Error && 'code' in error && error.code === code;
}
