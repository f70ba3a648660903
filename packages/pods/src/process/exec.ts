import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  booleanOption,
  clockOption,
  numberOption,
  optionWithMethods,
  requireOptions,
  shownType,
  shownValue,
  signalOption,
  textOption,
} from '@kctl/options';
import type { OptionCheck, OptionNames } from '@kctl/options';
import type { PodsClient } from '../client.js';
import { PodStreamError } from '../errors.js';
import type { PodTarget } from '../target.js';
import { openProcess } from './pod-process.js';
import type { PodProcess, ProcessOptions } from './pod-process.js';
import { requireTransportTo } from '../require-target.js';

/** Input of a process, which is a string, bytes, or a source of pieces such as a stream of Node. */
export type ProcessInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** Options of {@link exec}. */
export interface ExecOptions extends Omit<ProcessOptions, 'stdin' | 'stdout' | 'stderr'> {
  /** Input of the process. @default no input */
  readonly stdin?: ProcessInput;
  /** Receives its output, which is then not in the result. */
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  /** Longest output of each stream in the result, in bytes; more is an error. @default 10_485_760 */
  readonly maxOutputBytes?: number;
}

/** How a process has ended. */
export interface ExecResult {
  /** 0 for success. Another one is not an error. */
  readonly exitCode: number;
  /** Its output as a string; '' if `options.stdout` received it. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Checked before the command is sent, because an error found later would leave it running. */
const processOptionNames: OptionNames<ProcessOptions> = {
  container: textOption,
  stdin: booleanOption,
  stdout: booleanOption,
  stderr: booleanOption,
  tty: booleanOption,
  clock: clockOption,
  signal: signalOption,
};

const inputOption: OptionCheck = (name, value) =>
  typeof value === 'string' || value instanceof Uint8Array || isAsyncIterable(value)
    ? undefined
    : `${name} is ${shownType(value)}: expected a string, a Uint8Array, or what can be iterated, such as a stream`;

const outputOption = optionWithMethods(['write', 'end', 'on'], 'a Writable stream');

const execOptionNames: OptionNames<ExecOptions> = {
  ...processOptionNames,
  stdin: inputOption,
  stdout: outputOption,
  stderr: outputOption,
  maxOutputBytes: numberOption({ integer: true, orInfinity: true }),
};

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, Symbol.asyncIterator) === 'function';
}

/**
 * Runs a command in a container and waits for its end. The command does not go through a shell; use `['sh', '-c', '…']`
 * for that. It is sent once, whatever happens.
 *
 * @throws StatusError if it cannot be started; PodStreamError if the connection is lost or there is too much output;
 * PodTargetError; TypeError; the signal's reason
 *
 * @example
 * ```ts
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 * import { exec } from '@kctl/pods';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const { exitCode, stdout } = await exec(client, { namespace: 'shop', name: 'web-0' }, ['cat', '/etc/hostname']);
 * console.log(exitCode, stdout);
 * ```
 */
export async function exec(
  client: PodsClient,
  target: PodTarget,
  command: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  requireTransportTo('exec', client, target);
  requireCommand('exec', command);
  requireOptions('exec', options, execOptionNames);
  const { stdin, stdout, stderr, maxOutputBytes = 10 * 1024 * 1024, tty = false, ...rest } = options;
  const process = await startExec(client, target, command, { ...rest, tty, stdin: stdin !== undefined });
  try {
    const output = consume(process.stdout, stdout, maxOutputBytes);
    const errors = consume(process.stderr, stderr, maxOutputBytes);
    // A process may end without reading all of its input.
    const input = stdin === undefined ? undefined : feed(stdin, process.stdin);
    const ended = Promise.all([process.exited, output, errors]);
    // Input that fails ends the call; input that ends does not.
    const [exitCode, out, err] = await (input === undefined ? ended : Promise.race([ended, input.then(() => ended)]));
    return { exitCode, stdout: out, stderr: err };
  } finally {
    await process[Symbol.asyncDispose]();
  }
}

/**
 * Starts a command in a container and hands out its streams. Resolves when the server has taken it.
 *
 * @throws as {@link exec}; what is found out later is in {@link PodProcess.exited}
 */
export async function startExec(
  client: PodsClient,
  target: PodTarget,
  command: readonly string[],
  options: ProcessOptions = {},
): Promise<PodProcess> {
  requireTransportTo('startExec', client, target);
  requireCommand('startExec', command);
  requireOptions('startExec', options, processOptionNames);
  return await openProcess(client, target, { subresource: 'exec', command, options });
}

/**
 * Joins the main process of a container. It goes on when this connection ends.
 *
 * @throws as {@link startExec}
 */
export async function attach(client: PodsClient, target: PodTarget, options: ProcessOptions = {}): Promise<PodProcess> {
  requireTransportTo('attach', client, target);
  requireOptions('attach', options, processOptionNames);
  return await openProcess(client, target, { subresource: 'attach', options });
}

/** A string is a command of a shell, which the container may not have. @throws TypeError */
function requireCommand(what: string, command: unknown): void {
  const expected = "expected a program and its arguments, such as ['ls', '-l']";
  if (!Array.isArray(command))
    throw new TypeError(
      `${what}: the command is ${typeof command === 'string' ? shownValue(command) : shownType(command)}: ${expected}`,
    );
  if (command.length === 0) throw new TypeError(`${what}: the command is empty: ${expected}`);
  const words: readonly unknown[] = command;
  const wrong = words.findIndex((word) => typeof word !== 'string');
  if (wrong >= 0) throw new TypeError(`${what}: command[${wrong}] is ${shownType(words[wrong])}: ${expected}`);
}

async function consume(source: Readable, sink: Writable | undefined, maxBytes: number): Promise<string> {
  if (sink !== undefined) {
    await pipeline(source, sink, { end: false });
    return '';
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  const pieces: AsyncIterable<Uint8Array> = source;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > maxBytes)
      throw new PodStreamError(
        `the process wrote more than ${maxBytes} bytes: set maxOutputBytes, or stdout and stderr`,
      );
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString();
}

async function feed(input: ProcessInput, sink: Writable): Promise<void> {
  const source: AsyncIterable<unknown> =
    typeof input === 'string' || input instanceof Uint8Array ? Readable.from([Buffer.from(input)]) : input;
  let failure: { readonly error: unknown } | undefined;
  const pieces = source[Symbol.asyncIterator]();
  // Written by hand, because a generator that waits for a piece would pass on the end of the process only with the next
  // piece.
  const read: AsyncIterableIterator<string | Uint8Array, undefined> = {
    next: async () => {
      try {
        const step = await pieces.next();
        if (step.done === true) return { done: true, value: undefined };
        const { value } = step;
        if (typeof value === 'string' || value instanceof Uint8Array) return { done: false, value };
        throw new TypeError(`exec: a piece of stdin is ${shownType(value)}: expected a string or a Uint8Array`);
      } catch (error) {
        failure = { error };
        throw error;
      }
    },
    return: async () => {
      await pieces.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  try {
    await pipeline(Readable.from(read), sink);
  } catch {
    // Unless the input failed, the process or the connection has ended before all of it was read. The process reports
    // which.
  }
  if (failure !== undefined) throw failure.error;
}
