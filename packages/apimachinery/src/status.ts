/** Machine-readable reasons that the API server gives in a {@link Status}. */
export type StatusReason =
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'
  | 'Unknown'
  | (string & {});

/** One of several causes of a failure. */
export interface StatusCause {
  reason?: string;
  message?: string;
  /** Path of the offending field, e.g. `spec.replicas`. */
  field?: string;
}

/** Details of a failure. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** `metav1.Status`: how the API server answers when it has no object to answer with. */
export interface Status {
  apiVersion?: 'v1';
  kind?: 'Status';
  metadata?: { resourceVersion?: string; continue?: string };
  status?: 'Success' | 'Failure';
  message?: string;
  reason?: StatusReason;
  details?: StatusDetails;
  code?: number;
}
