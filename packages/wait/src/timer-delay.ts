import { numberProblem } from '@kctl/options';

/**
 * The delay of a timer, 0 if it is negative. For every clock, so that NaN is neither zero nor infinity.
 *
 * @throws RangeError for what is not a delay
 */
export function timerDelay(delayMs: number): number {
  if (delayMs < 0) return 0;
  const problem = numberProblem('delayMs', delayMs, { orInfinity: true });
  if (problem !== undefined) throw new RangeError(`setTimer: ${problem}`);
  return delayMs;
}
