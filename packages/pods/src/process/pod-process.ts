import type { Readable, Writable } from 'node:stream';
import { StatusError } from '@kctl/apimachinery';
import type { NamespacedKey } from '@kctl/apimachinery';
import type { AbortOptions } from '@kctl/client';
import { numberProblem } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import type { Clock } from '@kctl/wait';
import { Channels } from '../channels/channels.js';
import { openWebSocket } from '../channels/open-web-socket.js';
import { parseStatus } from '../client.js';
import type { PodsClient } from '../client.js';
import { defaultContainer, requireContainer } from '../container.js';
import { PodStreamError } from '../errors.js';
import { podPath } from '../pod-path.js';
import { podKeyOf, resolvePod } from '../target.js';
import type { PodTarget } from '../target.js';

/** Which streams a process has. */
export interface ProcessOptions extends AbortOptions {
  /** @default that of the annotation `kubectl.kubernetes.io/default-container`, else the first one */
  readonly container?: string;
  /** Whether the process gets input. @default false */
  readonly stdin?: boolean;
  /** @default true */
  readonly stdout?: boolean;
  /** @default true, except with `tty`, which has all output in stdout */
  readonly stderr?: boolean;
  /** A terminal. @default false */
  readonly tty?: boolean;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** A process in a container, and its streams. Dispose of it, or abort its signal, to end the connection. */
export interface PodProcess extends AsyncDisposable {
  readonly pod: NamespacedKey;
  readonly container: string;
  /**
   * Ending it ends the input of the process, with servers from Kubernetes 1.30 on. Accepts no input if `stdin` was not
   * requested.
   */
  readonly stdin: Writable;
  /** Output of the process. Read it, because unread output blocks the process. Ends with the process. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Sets the size of the terminal, in characters. @throws TypeError for an invalid size */
  resize(columns: number, rows: number): void;
  /**
   * Resolves with the exit code when the process has ended. Rejects with the StatusError of a process that was not started,
   * a PodStreamError when the connection is lost, the signal's reason.
   */
  readonly exited: Promise<number>;
}

/** Longest exit status, in bytes. It is a Status object of a few hundred. */
const maxStatusBytes = 64 * 1024;
/** By the file descriptors of a process; then its end, and the size of its terminal. */
const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const;
/** v4 is for servers before Kubernetes 1.30. It cannot signal the end of the input. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Starts a process (`exec`), or joins the one that runs (`attach`). */
export async function openProcess(
  client: PodsClient,
  target: PodTarget,
  {
    subresource,
    command = [],
    options,
  }: {
    readonly subresource: 'exec' | 'attach';
    readonly command?: readonly string[];
    readonly options: ProcessOptions;
  },
): Promise<PodProcess> {
  const { stdin = false, stdout = true, tty = false, stderr = !tty, signal, clock = systemClock } = options;
  requireStreams(subresource, { stdin, stdout, stderr, tty });
  const { pod, container } = await place(client, target, options);
  const what = `${subresource} in container ${container} of pod ${pod.namespace}/${pod.name}`;
  const path = podPath(pod, subresource, { command, container, stdin, stdout, stderr, tty });
  const opened = await openWebSocket(client.transport, { path, protocols, what, signal });
  const { promise: exited, resolve, reject } = Promise.withResolvers<number>();
  // A caller that does not use the exit code is not notified of a failure.
  exited.catch(() => undefined);
  let status: string | undefined;
  const channels = new Channels(opened, {
    clock,
    onEnd: (error) => {
      signal?.removeEventListener('abort', onAbort);
      input.destroy();
      if (error === undefined || status !== undefined) settle(status, what, { resolve, reject });
      else reject(error);
    },
  });
  const input = channels.writable(channel.stdin);
  const output = channels.readable(channel.stdout);
  const errors = channels.readable(channel.stderr);
  channels.listen(channel.status, (data) => {
    if ((status?.length ?? 0) + data.length > maxStatusBytes) {
      const error = new PodStreamError(`${what}: the server sent a status of more than ${maxStatusBytes} bytes`);
      status = undefined;
      for (const stream of [output, errors]) stream.destroy(error);
      reject(error);
      channels.destroy(error);
      return true;
    }
    status = (status ?? '') + data.toString();
    return true;
  });
  if (!stdin) input.end();
  const onAbort = (): void => {
    if (signal === undefined) return;
    const reason = abortReason(signal);
    reject(reason);
    for (const stream of [output, errors]) stream.destroy(reason);
    channels.destroy(reason);
  };
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    pod,
    container,
    stdin: input,
    stdout: output,
    stderr: errors,
    exited,
    resize: (columns, rows) => {
      requireSize(columns, rows);
      channels.send(channel.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows })), () => undefined);
    },
    [Symbol.asyncDispose]: async () => {
      channels.close();
      output.resume();
      errors.resume();
      await exited.catch(() => undefined);
    },
  };
}

interface Streams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** @throws TypeError if no stream is wanted, or two of a terminal */
function requireStreams(subresource: string, { stdin, stdout, stderr, tty }: Streams): void {
  if (tty && stderr)
    throw new TypeError(`${subresource}: tty and stderr are both set: a terminal has one output, in stdout`);
  if (!stdin && !stdout && !stderr)
    throw new TypeError(`${subresource}: no stream is wanted: set stdin, stdout or stderr`);
}

/** @throws TypeError if a terminal cannot have the size */
function requireSize(columns: number, rows: number): void {
  const problem =
    numberProblem('columns', columns, { least: 1, integer: true }) ??
    numberProblem('rows', rows, { least: 1, integer: true });
  if (problem !== undefined) throw new TypeError(`resize: ${problem}`);
}

async function place(
  client: PodsClient,
  target: PodTarget,
  { container, signal }: ProcessOptions,
): Promise<{ readonly pod: NamespacedKey; readonly container: string }> {
  const key = podKeyOf(target);
  if (key !== undefined && container !== undefined && !('metadata' in target)) return { pod: key, container };
  const pod = await resolvePod(client, target, signal === undefined ? {} : { signal });
  const { namespace, name } = pod.metadata;
  return {
    pod: { namespace, name },
    container: container === undefined ? defaultContainer(pod) : requireContainer(pod, container),
  };
}

/** Handles the status channel, which reports success, an exit code, or why there was no process. */
function settle(
  text: string | undefined,
  what: string,
  { resolve, reject }: { readonly resolve: (code: number) => void; readonly reject: (error: Error) => void },
): void {
  const status = text === undefined ? undefined : parseStatus(text);
  if (status === undefined) {
    const detail = text === undefined ? '' : `: ${text.trim().slice(0, 300)}`;
    reject(new PodStreamError(`${what}: the stream ended without an exit status${detail}`));
    return;
  }
  if (status.status === 'Success') {
    resolve(0);
    return;
  }
  const causes = status.details?.causes ?? [];
  const code = Number(causes.find(({ reason }) => reason === 'ExitCode')?.message);
  if (String(status.reason) === 'NonZeroExitCode' && Number.isInteger(code)) resolve(code);
  else reject(new StatusError(status));
}
