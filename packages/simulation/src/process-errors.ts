/** Rules that unhandled errors break, by the event of the process. */
const rules = { unhandledRejection: 'unhandled-rejection', uncaughtException: 'uncaught-error' } as const;

/** Takes errors that no code handles until it is disposed; then the listeners of a test runner are back. */
export function catchProcessErrors(
  report: (rule: 'unhandled-rejection' | 'uncaught-error', error: unknown) => void,
): Disposable {
  const emitter: NodeJS.EventEmitter = process;
  const undo = Object.entries(rules).map(([event, rule]) => {
    const others = emitter.rawListeners(event) as ((...given: unknown[]) => void)[];
    const listener = (error: unknown): void => report(rule, error);
    emitter.removeAllListeners(event);
    emitter.on(event, listener);
    return (): void => {
      emitter.off(event, listener);
      for (const other of others) emitter.on(event, other);
    };
  });
  return {
    [Symbol.dispose]: () => {
      for (const back of undo) back();
    },
  };
}
