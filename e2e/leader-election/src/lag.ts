import { systemClock } from '@kctl/wait';
import { sharedNow, type LogEntry } from './protocol.js';

const everyMs = 50;
/** Less is the resolution of timers, in ms. */
const noticeMs = 20;

/** Logs when this event loop was late, so that a lack of processors does not pass for a slow election. */
export function watchLag(log: (entry: LogEntry) => void): Disposable {
  let due = sharedNow() + everyMs;
  const look = (): void => {
    const at = sharedNow();
    if (at - due > noticeMs) log({ what: 'lagged', at, ms: at - due });
    due = at + everyMs;
    timer = systemClock.setTimer(look, everyMs, { keepAlive: false });
  };
  let timer = systemClock.setTimer(look, everyMs, { keepAlive: false });
  return { [Symbol.dispose]: () => timer.cancel() };
}
