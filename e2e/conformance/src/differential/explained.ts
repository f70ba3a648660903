/** Differences that are known and accepted, each with the reason. The aim is an empty list. */
import type { Divergence } from './compare.js';

export interface Explanation {
  readonly reason: string;
  covers(divergence: Divergence, request: string): boolean;
}

export const explanations: readonly Explanation[] = [];
