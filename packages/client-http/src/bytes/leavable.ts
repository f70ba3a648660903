/**
 * The iteration of a generator that can also be left before it has begun, and while it waits. A generator that did not begin
 * would run none of its code then, and one that waits would only end with the next chunk. Both would keep the
 * connection.
 *
 * @param release ends what the generator reads; called before the generator ends
 */
export function leavable<T>(
  steps: AsyncGenerator<T, void, undefined>,
  release: () => Promise<void> | void,
): AsyncIterableIterator<T, undefined> {
  return {
    next: async () => {
      const step = await steps.next();
      return step.done === true ? { done: true, value: undefined } : step;
    },
    return: async () => {
      try {
        await release();
      } finally {
        await steps.return();
      }
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
