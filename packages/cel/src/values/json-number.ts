const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/**
 * A number of JSON as the API server reads it: an int64 (a bigint here) where its text is one, a float64 otherwise. 2^63,
 * whose JSON is 9223372036854775808, is a float64; so is everything that is written with an exponent; -0 is written `0`.
 */
export function jsonNumber(raw: number | bigint): bigint | number {
  if (typeof raw === 'bigint') return isInt64(raw) ? raw : Number(raw);
  if (Number.isSafeInteger(raw)) return BigInt(raw);
  const text = String(raw);
  if (!/^-?\d+$/.test(text)) return raw;
  const integer = BigInt(text);
  return isInt64(integer) ? integer : raw;
}

function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}
