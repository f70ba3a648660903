/**
 * A function that runs the callback later, in the current asynchronous context, as a real timer does. A promise carries
 * the context, because an `AsyncResource` for each timer would cost more than everything else in it.
 */
export function continuation(callback: () => void): () => void {
  let fire: (() => void) | undefined;
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  // An error becomes an unhandled rejection, which the world reports.
  void fired.then(callback);
  return () => fire?.();
}
