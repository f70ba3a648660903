const code = 'KCTL_STORAGE_MIGRATION';

/** An object that a migration could not write. */
export interface FailedMigration {
  /** Absent for objects of the cluster. */
  readonly namespace?: string;
  readonly name: string;
  readonly error: unknown;
}

/** `migrateStorage` did not come to its end: `status.storedVersions` is as it was, and the migration can be run again. */
export class StorageMigrationError extends Error {
  override readonly name = 'StorageMigrationError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_STORAGE_MIGRATION' = code;
  /** The first objects that could not be written, at most 100. */
  readonly failures: readonly FailedMigration[];
  /** How many there were. */
  readonly failed: number;

  constructor(
    definition: string,
    problem: string,
    { failures = [], failed = 0 }: { readonly failures?: readonly FailedMigration[]; readonly failed?: number } = {},
  ) {
    const [first] = failures;
    const shown = failures.slice(0, 5).map(({ namespace, name, error }) => {
      const why = error instanceof Error ? error.message : String(error);
      return `${namespace === undefined ? name : `${namespace}/${name}`}: ${why}`;
    });
    const rest = failed > shown.length ? `; and ${String(failed - shown.length)} more` : '';
    const list = shown.length === 0 ? '' : `: ${shown.join('; ')}${rest}: correct them, then run the migration again`;
    super(
      `migrate storage of ${definition}: ${problem}${list}`,
      first === undefined ? undefined : { cause: first.error },
    );
    this.failures = failures;
    this.failed = failed;
  }
}

/** Whether an error is a {@link StorageMigrationError}, also one of another copy of this package. */
export function isStorageMigration(error: unknown): error is StorageMigrationError {
  return error instanceof Error && 'code' in error && error.code === code;
}
