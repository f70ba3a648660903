import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { sleep, systemClock } from '@kctl/wait';
import { EnvironmentStartError } from './errors.js';
import type { Guardian } from './guardian.js';

const pollMs = 50;
const pollTimeoutMs = 5_000;
const logTailLines = 15;

/** One child process, which is etcd, kube-apiserver or kube-controller-manager. */
export interface Component {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly isRunning: () => boolean;
  /** SIGTERM, and SIGKILL after `graceMs` (0: at once). */
  stop(graceMs: number): Promise<void>;
}

/** Options of {@link startComponent}. */
export interface ComponentOptions {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly guardian: Guardian;
  readonly onUnexpectedExit: (reason: string) => void;
}

/**
 * Starts a process whose output goes to a file, because a pipe would stall it whenever our event loop is busy. It gets
 * a separate session, so that Ctrl-C in a terminal only reaches this process, which decides the order of the stop.
 */
export async function startComponent(options: ComponentOptions): Promise<Component> {
  const { name, path, args, logFile, guardian, onUnexpectedExit } = options;
  const output = openSync(logFile, 'a', 0o600);
  const child = spawn(path, args, { detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  await new Promise((resolve, reject) => child.once('spawn', () => resolve(undefined)).once('error', reject));
  const { pid } = child;
  if (pid === undefined) throw new EnvironmentStartError(`${name} has no process id`);
  guardian.watch(pid);
  let stopping = false;
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (exitCode, exitSignal) => {
      guardian.forget(pid);
      if (!stopping)
        onUnexpectedExit(`${name} ended by itself (${exitSignal ?? `exit code ${exitCode ?? 'unknown'}`})`);
      resolve();
    });
  });
  return {
    name,
    pid,
    logFile,
    isRunning,
    stop: async (graceMs) => {
      stopping = true;
      if (!isRunning()) return;
      child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const force = systemClock.setTimer(() => child.kill('SIGKILL'), graceMs);
      await ended;
      force.cancel();
    },
  };
}

/** A URL that answers 200 when a component is ready. */
export interface Probe {
  readonly url: string;
  readonly caPem?: string;
  readonly token?: string;
}

/** Polls until the probe answers 200. @throws EnvironmentStartError */
export async function waitUntilReady(
  component: Component,
  probe: Probe,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { timeoutMs, signal } = limits;
  const deadline = systemClock.monotonicNow() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const answer = await ask(probe, signal);
    if (answer === '200') return;
    if (!component.isRunning()) throw await startError(component, 'ended before it was ready');
    if (systemClock.monotonicNow() > deadline)
      throw await startError(component, `was not ready within ${timeoutMs / 1000} s (${answer})`);
    await sleep(pollMs, { signal });
  }
}

/** The status code, or why it is missing. */
function ask({ url, caPem, token }: Probe, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = get(url, { ca: caPem, headers, agent: false, signal, timeout: pollTimeoutMs }, (response) => {
      response.resume();
      response.once('close', () => resolve(String(response.statusCode)));
    });
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('error', (error) => resolve(error.message));
  });
}

async function startError({ name, logFile }: Component, what: string): Promise<EnvironmentStartError> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  const tail = text.trimEnd().split('\n').slice(-logTailLines);
  return new EnvironmentStartError(`${name} ${what}; its last log lines:\n${tail.join('\n')}`);
}
