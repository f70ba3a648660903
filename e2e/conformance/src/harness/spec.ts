/** The registry of cases: each carries the number of the statement that it proves. */
import type { Context } from './context.js';

/** What a target may lack. A case that needs it is then skipped with the reason, never softened. */
export type Capability =
  | 'garbage-collector'
  | 'namespace-controller'
  | 'client-certificates'
  | 'anonymous'
  | 'expiry'
  | 'server-side-apply'
  | 'managed-fields'
  | 'token-requests'
  | 'reviews'
  | 'rbac'
  | 'webhooks'
  | 'faults';

export interface CaseOptions {
  readonly needs?: readonly Capability[];
  /** Takes seconds: started first. */
  readonly isSlow?: boolean;
  /** Disturbs others: runs alone, at the end. */
  readonly isExclusive?: boolean;
  /** @default 60000 */
  readonly timeoutMs?: number;
}

export interface Case extends CaseOptions {
  /** Number of the statement, as in `62` or `62b`. */
  readonly statement: string;
  readonly title: string;
  readonly id: string;
  readonly run: (context: Context) => Promise<void>;
}

const all: Case[] = [];

export function spec(
  statement: number | string,
  title: string,
  run: (context: Context) => Promise<void>,
  options: CaseOptions = {},
): void {
  const id = `${statement} ${title}`;
  if (all.some((other) => other.id === id)) throw new Error(`two cases are called ${JSON.stringify(id)}`);
  all.push({ ...options, statement: String(statement), title, id, run });
}

export const registeredCases = (): readonly Case[] => all;
