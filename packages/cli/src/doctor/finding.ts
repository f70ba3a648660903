/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  /** The finding and its remedy. */
  readonly message: string;
}

/** Findings as lines. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings.map(({ check, status, message }) => `${status.padEnd(8)} ${check.padEnd(10)} ${message}\n`).join('');
}
