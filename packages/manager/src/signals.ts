/** The part of `process` that signal handling needs. */
export interface SignalProcess {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
}

/** A signal that is aborted by SIGINT or SIGTERM. */
export interface StopSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Takes the handlers away again. */
  [Symbol.dispose](): void;
}

/**
 * The first SIGINT or SIGTERM aborts the signal, the second one exits the process with code 1. Mirrors
 * `signals.SetupSignalHandler`, but may be called several times; each call has a separate signal.
 */
export function stopOnSignals(target: SignalProcess = process): StopSignal {
  const given: unknown = target;
  if (typeof given !== 'object' || given === null || !('on' in given) || typeof given.on !== 'function')
    throw new TypeError('stopOnSignals: expected a process with on, off and exit, or nothing, which is this process');
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) target.exit(1);
    else controller.abort(new DOMException('the process received a signal to stop', 'AbortError'));
  };
  target.on('SIGINT', onSignal);
  target.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      target.off('SIGINT', onSignal);
      target.off('SIGTERM', onSignal);
    },
  };
}
