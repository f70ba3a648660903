import process from 'node:process';
import { systemClock } from '@kctl/wait';

/** How often the parent is looked for, in ms. */
const parentCheckMs = 1000;

/** Calls back once when the process that started this one has gone. */
export function stopWithParent(stop: () => void): void {
  const parent = process.ppid;
  const check = (): void => {
    if (process.ppid !== parent) stop();
    else systemClock.setTimer(check, parentCheckMs, { keepAlive: false });
  };
  check();
}
