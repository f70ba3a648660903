/** Where a target is known to differ from the real server. The list may only shrink: a listed case that passes fails. */
import { readFileSync } from 'node:fs';

export interface KnownDifference {
  /** Id of the case: its statement and title. */
  readonly case: string;
  readonly target: string;
  readonly reason: string;
}

const FILE = new URL('../../known-differences.json', import.meta.url);

export function readKnownDifferences(caseIds: readonly string[]): KnownDifference[] {
  const differences = JSON.parse(readFileSync(FILE, 'utf8')) as KnownDifference[];
  for (const difference of differences) {
    if (!caseIds.includes(difference.case))
      throw new Error(`known-differences.json names a case that does not exist: ${JSON.stringify(difference.case)}`);
    if (!difference.reason) throw new Error(`known-differences.json: ${JSON.stringify(difference.case)} has no reason`);
  }
  return differences;
}
