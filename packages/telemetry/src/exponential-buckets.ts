/**
 * Bounds of a histogram. There are `count` of them, the first is `start`, and each is `factor` times the one before.
 * Computed as `prometheus.ExponentialBuckets` does, by repeated multiplication, because a power differs from that in
 * the last bit, and with it the `le` label of the series.
 *
 * @throws RangeError if no ascending bounds result
 */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  if (!(start > 0) || !(factor > 1) || !Number.isSafeInteger(count) || count < 1)
    throw new RangeError(
      `exponentialBuckets(${start}, ${factor}, ${count}) is not valid: give a start > 0, a factor > 1 and a count ≥ 1`,
    );
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}
