/** One child process (etcd, kube-apiserver, kube-controller-manager): its log, its readiness, its end. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
const POLL_TIMEOUT_MS = 5_000;
const LOG_TAIL_LINES = 15;

/** Thrown when a component ended, or was not ready in time, during the start. The message ends with its last log lines. */
export class StartError extends Error {
  /** @type {'START_FAILED'} */
  code = 'START_FAILED';
  name = 'StartError';
}

/**
 * @typedef {object} Component
 * @property {string} name
 * @property {number} pid
 * @property {string} logFile
 * @property {() => boolean} running
 * @property {(graceMs: number) => Promise<void>} stop SIGTERM, and SIGKILL after `graceMs` (0: at once)
 *
 * @typedef {object} Probe a URL that answers 200 when the component is ready
 * @property {string} url
 * @property {string} [caPem]
 * @property {string} [token]
 */

/**
 * Starts a process whose output goes to a file: a pipe would stall it whenever our event loop is busy.
 *
 * It gets a session of its own, so that Ctrl-C in a terminal reaches only us and the order of the stop is ours.
 *
 * @param {{ name: string, path: string, args: string[], logFile: string, guardian: import('./guardian.mjs').Guardian, onUnexpectedExit: (reason: string) => void }} options
 * @returns {Promise<Component>}
 */
export async function startComponent({ name, path, args, logFile, guardian, onUnexpectedExit }) {
  const output = openSync(logFile, 'a', 0o600);
  const child = spawn(path, args, { detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const pid = /** @type {number} */ (child.pid);
  guardian.watch(pid);
  let stopping = false;
  const running = () => child.exitCode === null && child.signalCode === null;
  const ended = new Promise((resolve) => {
    child.once('exit', (exitCode, exitSignal) => {
      guardian.forget(pid);
      if (!stopping) onUnexpectedExit(`${name} ended by itself (${exitSignal ?? `exit code ${exitCode}`})`);
      resolve(undefined);
    });
  });
  return {
    name,
    pid,
    logFile,
    running,
    stop: async (graceMs) => {
      stopping = true;
      if (!running()) return;
      child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(force);
    },
  };
}

/**
 * Polls until the probe answers 200.
 *
 * @param {Component} component
 * @param {Probe} probe
 * @param {{ timeoutMs: number, signal: AbortSignal }} options
 * @returns {Promise<void>}
 * @throws {StartError}
 */
export async function waitUntilReady(component, probe, { timeoutMs, signal }) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const answer = await ask(probe, signal);
    if (answer === '200') return;
    if (!component.running()) throw await startError(component, 'ended before it was ready');
    if (Date.now() > deadline)
      throw await startError(component, `was not ready within ${timeoutMs / 1000} s (${answer})`);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {}); // Aborted: the loop throws the signal's reason.
  }
}

/**
 * @param {Probe} probe
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the status code, or why there is none
 */
function ask({ url, caPem, token }, signal) {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = get(url, { ca: caPem, headers, agent: false, signal, timeout: POLL_TIMEOUT_MS }, (response) => {
      response.resume();
      response.once('close', () => resolve(String(response.statusCode)));
    });
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('error', (error) => resolve(error.message));
  });
}

/**
 * @param {Component} component
 * @param {string} what
 */
async function startError({ name, logFile }, what) {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  const tail = text.trimEnd().split('\n').slice(-LOG_TAIL_LINES);
  return new StartError(`${name} ${what}; its last log lines:\n${tail.join('\n')}`);
}
