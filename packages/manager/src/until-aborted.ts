/** Resolves when the promise settles or the signal is aborted, whichever is first; never rejects. */
export async function untilAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const settled = promise.then(
    () => undefined,
    () => undefined,
  );
  if (signal.aborted) {
    // One turn of the event loop: what can end at once is no straggler.
    await Promise.race([settled, new Promise((resolve) => setImmediate(resolve))]);
    return;
  }
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  await Promise.race([settled, aborted.promise]);
  signal.removeEventListener('abort', onAbort);
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
