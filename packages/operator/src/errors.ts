/** A setting is not known or not valid; the message is one sentence for the person who set it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_SETTINGS' as const;
}

/** Whether an error is a {@link SettingsError}. */
export function isSettingsError(error: unknown): error is SettingsError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_SETTINGS';
}
