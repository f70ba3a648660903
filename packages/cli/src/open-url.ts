import { spawn } from 'node:child_process';
import type { CliIo } from './io.js';

/** The programs that show an address, by platform. */
const openers: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Shows an address in the user's browser, if there is one; it has been printed, so a failure has no effect. */
export function openUrl(io: CliIo, url: string): void {
  if (io.open !== undefined) {
    io.open(url);
    return;
  }
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
}
