const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/**
 * A JSON number as the API server reads it. It is an int64 (a bigint here) if its literal is one, a float64 otherwise.
 * 2^63, whose JSON is 9223372036854775808, is a float64; so is any number with an exponent; -0 is written `0`.
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
