import { isQuantityError, parseQuantity as parse } from '@kctl/apimachinery';
import { storedQuantity } from '@kctl/apimachinery/internal';

/** Thrown for a string that is not a quantity; the message is Go's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

function withGoMessage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isQuantityError(error) ? new QuantityError(error.serverMessage) : error;
  }
}

/** The value of a quantity in billionths. @throws QuantityError */
export function quantityNanos(text: string): bigint {
  return withGoMessage(() => parse(text).nanos);
}

/** The string that a real server stores for a quantity. @throws QuantityError */
export function canonicalQuantity(text: string): string {
  return withGoMessage(() => storedQuantity(text.trim()));
}
