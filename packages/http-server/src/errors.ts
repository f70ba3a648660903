const serverCode = 'KCTL_HTTP_SERVER';
const bodyCode = 'KCTL_HTTP_BODY';

/** Thrown when a server cannot start, or is run twice at the same time. */
export class HttpServerError extends Error {
  override readonly name = 'HttpServerError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_HTTP_SERVER' = serverCode;
}

/** Whether an error is an {@link HttpServerError}, also one of another copy of this package. */
export function isHttpServerError(error: unknown): error is HttpServerError {
  return error instanceof Error && 'code' in error && error.code === serverCode;
}

/** Thrown when a request body cannot be read. The message holds nothing of the body. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_HTTP_BODY' = bodyCode;
  /**
   * Status of the answer: 413 for a body that is too large, 408 for one that arrives too slowly, 400 for one that ends
   * early, 503 if the bodies of other requests leave no memory for it.
   */
  readonly httpCode: 400 | 408 | 413 | 503;

  constructor(message: string, httpCode: 400 | 408 | 413 | 503, options?: ErrorOptions) {
    super(message, options);
    this.httpCode = httpCode;
  }
}

/** Whether an error is a {@link BodyError}, also one of another copy of this package. */
export function isBodyError(error: unknown): error is BodyError {
  return error instanceof Error && 'code' in error && error.code === bodyCode;
}
