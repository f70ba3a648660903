/**
 * Whether a value is awaited: a promise, one of another realm, or anything with a `then`.
 *
 * @throws what reading `then` throws
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
