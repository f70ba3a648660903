/**
 * A function that runs the callback later, in the asynchronous context of now, as a real timer does. The context goes
 * along with a promise: an `AsyncResource` for each timer would cost more than all the rest of it.
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
