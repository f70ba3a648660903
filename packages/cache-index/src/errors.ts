/** Thrown when a requested index was not added. Mirrors client-go's "Index with name X does not exist". */
export class UnknownIndexError extends Error {
  override readonly name = 'UnknownIndexError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_UNKNOWN_INDEX' as const;
  readonly indexName: string;

  constructor(indexName: string, known: readonly string[]) {
    super(
      `Index with name ${indexName} does not exist: ${known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`}; add it with addIndexers`,
    );
    this.indexName = indexName;
  }
}

/** Thrown when an index is added under a name that is taken. Nothing has been added then. */
export class IndexConflictError extends Error {
  override readonly name = 'IndexConflictError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_INDEX_CONFLICT' as const;
  readonly indexNames: readonly string[];

  constructor(indexNames: readonly string[]) {
    super(`indexer conflict: ${indexNames.join(', ')} exist already; choose other names`);
    this.indexNames = indexNames;
  }
}

/** Thrown when an index function throws. The store is as it was before the call. */
export class IndexFunctionError extends Error {
  override readonly name = 'IndexFunctionError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_INDEX_FUNCTION' as const;
  readonly indexName: string;
  /** `namespace/name` of the object that it failed for. */
  readonly key: string;

  constructor(indexName: string, key: string, options: ErrorOptions) {
    super(`the function of index ${indexName} failed for ${key}`, options);
    this.indexName = indexName;
    this.key = key;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** Whether an error is an {@link UnknownIndexError}, also one of another copy of this package. */
export function isUnknownIndex(error: unknown): error is UnknownIndexError {
  return hasCode(error, 'KCTL_UNKNOWN_INDEX');
}

/** Whether an error is an {@link IndexConflictError}, also one of another copy of this package. */
export function isIndexConflict(error: unknown): error is IndexConflictError {
  return hasCode(error, 'KCTL_INDEX_CONFLICT');
}

/** Whether an error is an {@link IndexFunctionError}, also one of another copy of this package. */
export function isIndexFunctionError(error: unknown): error is IndexFunctionError {
  return hasCode(error, 'KCTL_INDEX_FUNCTION');
}
