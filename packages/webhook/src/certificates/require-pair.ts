import { types } from 'node:util';
import { isThenable, shownType } from '@kctl/options';
import { WebhookServerError } from '../errors.js';
import type { KeyPair } from './certificate-watcher.js';

/**
 * Returns the pair that a source or a callback of the user supplied, as bytes.
 *
 * @param what names the call, at the beginning of the message
 * @throws WebhookServerError for a value without a certificate and its key
 */
export function requirePair(what: string, pair: unknown): KeyPair {
  const parts: object = typeof pair === 'object' && pair !== null ? pair : {};
  const cert: unknown = Reflect.get(parts, 'cert');
  const key: unknown = Reflect.get(parts, 'key');
  if (isPem(cert) && isPem(key)) return { cert: Buffer.from(cert), key: Buffer.from(key) };
  const given =
    typeof pair === 'object' && pair !== null
      ? `${isPem(cert) ? 'key' : 'cert'} that is ${shownType(isPem(cert) ? key : cert)}`
      : shownType(pair);
  throw new WebhookServerError(`${what} returned ${given}: expected { cert, key }, PEM as strings or bytes`);
}

/** Refuses an asynchronous check, whose failure would come too late. @throws WebhookServerError */
export function requireNoPromise(what: string, result: unknown): void {
  if (!isThenable(result)) return;
  result.then(undefined, () => undefined); // what it fails with is not handled otherwise
  throw new WebhookServerError(
    `${what} returned a promise: expected a function that throws at once if a condition is not met`,
  );
}

/** Bytes may be of another realm, as those of a test in a `node:vm` context are. */
function isPem(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || types.isUint8Array(value);
}
