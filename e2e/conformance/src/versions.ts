/** Releases of the real server other than the one that the suite was written against, and what they do differently. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Result } from './harness/run.js';

/** The release of e2e/kube-apiserver/go.mod. */
export const release = '1.36';

export interface VersionResult {
  readonly version: string;
  readonly passed: number;
  readonly skipped: number;
  /** Cases of the suite that the release answers differently, with the first line of how. */
  readonly differences: readonly { readonly case: string; readonly how: string }[];
  /** Of the client stack on it; written by `scripts/run.mjs` after its suites. */
  readonly clients?: { readonly passed: number; readonly failed: number; readonly skipped: number };
}

const folder = new URL('../results/', import.meta.url);

/** The first line of a failure, with the message of a Status in its place and without names that differ from run to run. */
export function howOf(reason: string): string {
  const [line = ''] = reason.split('\n');
  return line
    .replace(/\{"kind":"Status".*?"message":"((?:[^"\\]|\\.)*).*$/, (_, text: string) => text.replaceAll('\\"', '"'))
    .replaceAll(/\b(?:c|user)-[a-z0-9]{4,6}-[a-z0-9]+\b/g, '<name>')
    .replaceAll(/\bw[a-z0-9]{5}\.kctl\.test\b/g, '<group>')
    .slice(0, 240);
}

/** Writes `results/<version>.json`. */
export function writeVersion(version: string, results: readonly Result[]): void {
  const count = (outcome: Result['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  const differences = results
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ id, reason = '' }) => ({ case: id, how: howOf(reason) }))
    .toSorted((a, b) => (a.case < b.case ? -1 : 1));
  const result: VersionResult = { version, passed: count('passed'), skipped: count('skipped'), differences };
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${version}.json`, folder), `${JSON.stringify(result, undefined, 2)}\n`);
}

export function readVersion(version: string): VersionResult | undefined {
  try {
    return JSON.parse(readFileSync(new URL(`${version}.json`, folder), 'utf8')) as VersionResult;
  } catch {
    return undefined;
  }
}
