import { it } from 'vitest';
import type { ConformanceFeature } from './context.js';

/** Why features are missing. */
export type SkipReasons = Partial<Record<ConformanceFeature, string>>;

/** A case that needs a feature: where it is missing, the case is skipped and its name says why. */
export function needs(
  reasons: SkipReasons,
  feature: ConformanceFeature,
): (name: string, run: () => Promise<void>) => void {
  const reason = reasons[feature];
  return (name, run) => {
    if (reason === undefined) it(name, run);
    else it.skip(`${name} [skipped: ${reason}]`, run);
  };
}
