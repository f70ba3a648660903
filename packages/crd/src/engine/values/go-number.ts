import { formatDouble } from '@kctl/cel/internal';

/** An int64, or a float64: what the API server makes of a number, see `jsonNumber` of @kctl/cel. */
export type GoNumber = bigint | number;

/** A number as Go prints it by `%v`. */
export function goText(value: GoNumber): string {
  return typeof value === 'bigint' ? value.toString() : formatDouble(value);
}
