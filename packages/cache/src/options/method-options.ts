import type { InformerWaitOptions } from '@kctl/informer';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { CacheScope } from '../cache.js';

/** The names of the options of each method of a cache. */
export const waitOptionNames: OptionNames<InformerWaitOptions> = { timeoutMs: true, signal: true };
const versionOptionNames: OptionNames<InformerWaitOptions & CacheScope> = {
  ...waitOptionNames,
  namespace: true,
};
export const informerOptionNames: OptionNames<{ readonly signal?: AbortSignal }> = { signal: true };

/** The options of `waitForResourceVersion`. @throws TypeError naming the option that is not known */
export function knownVersionOptions(options: InformerWaitOptions & CacheScope): InformerWaitOptions & CacheScope {
  requireOptions('waitForResourceVersion', options, versionOptionNames);
  return options;
}
