/** Attribute values that every tracing system takes. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One traced operation. */
export interface Span {
  setAttributes(attributes: SpanAttributes): void;
  /** Marks the span as failed. */
  recordError(error: unknown): void;
  /** Ends the span; later calls on it do nothing. */
  end(): void;
}

/**
 * Tracing, reduced to what @kctl needs; OpenTelemetry fits behind it. `withSpan` makes the span current for
 * everything that `work` awaits, records an error it throws, and ends the span when it settles.
 */
export interface Tracer {
  withSpan<T>(name: string, attributes: SpanAttributes, work: (span: Span) => Promise<T>): Promise<T>;
}
