const lostRaceCode = 'KCTL_STORE_LOST_RACE';
const corruptCode = 'KCTL_STORE_CORRUPT';
const lockedCode = 'KCTL_STORE_LOCKED';

/** A compare-and-swap found another revision than the caller had read. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
  readonly code: typeof lostRaceCode = lostRaceCode;
  readonly expected: number;
  readonly actual: number;

  constructor(key: string, revisions: { readonly expected: number; readonly actual: number }) {
    super(`${key}: expected revision ${revisions.expected}, found ${revisions.actual}`);
    this.expected = revisions.expected;
    this.actual = revisions.actual;
  }
}

export function isLostRaceError(error: unknown): error is LostRaceError {
  return error instanceof Error && 'code' in error && error.code === lostRaceCode;
}

/** A persisted file cannot be read. Nothing was changed, so restore the file or remove the directory. */
export class CorruptStoreError extends Error {
  override readonly name = 'CorruptStoreError';
  readonly code: typeof corruptCode = corruptCode;
  readonly file: string;

  constructor(file: string, what: string, options?: ErrorOptions) {
    super(
      `${file}: ${what}; restore this file from a copy, or remove its directory to begin with an empty store`,
      options,
    );
    this.file = file;
  }
}

/** Another server has the directory open. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError';
  readonly code: typeof lockedCode = lockedCode;
  readonly directory: string;
  readonly pid: number;

  constructor(directory: string, pid: number) {
    super(`${directory} is in use by process ${pid}; stop that server or choose another directory`);
    this.directory = directory;
    this.pid = pid;
  }
}

export function isStoreLockedError(error: unknown): error is StoreLockedError {
  return error instanceof Error && 'code' in error && error.code === lockedCode;
}
