// The subresources `exec` and `attach` of pods, over v5.channel.k8s.io and v4.channel.k8s.io.
import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isStatusError, type Status } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { jsonText, goQuoted } from '@kctl/crd/internal/engine';
import { parseBoolParameter } from '../protocol/go-text.js';
import type { Backend, ResourceCall } from '../handlers/call.js';
import { internalError } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
import { chooseProtocol, openChannels, type ServerChannels } from './server-channels.js';
import type { PodScript, ScriptedContainer } from '../scripts/pod-scripts.js';

const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const;
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Parts that a stream to a process needs. */
export interface ProcessCall {
  readonly of: ScriptedContainer;
  readonly what: 'exec' | 'attach';
  /** The reason for a missing process, found out after the upgrade, as when the kubelet does not answer. */
  readonly failure: (() => Error) | undefined;
}

/** Answers an upgrade with the streams of a process. */
export function answerProcess(backend: Backend, call: ResourceCall, { of, what, failure }: ProcessCall): Reply {
  const protocol = chooseProtocol(call.request.header('sec-websocket-protocol'), protocols);
  if (protocol === undefined) return { status: 403, headers: {} };
  const run = backend.pods.find(of, what);
  const { stopping } = backend.watch;
  return {
    status: 101,
    headers: {},
    upgrade: async (upgrade) => {
      const channels = await openChannels(upgrade, protocol);
      const stop = (): void => channels.close(1001);
      stopping.addEventListener('abort', stop, { once: true });
      try {
        const status = failure === undefined ? await play(call, channels, { of, run, stopping }) : statusOf(failure());
        channels.send(channel.status, jsonText(status));
      } finally {
        stopping.removeEventListener('abort', stop);
        channels.close(1000);
      }
    },
  };
}

interface Play {
  readonly of: ScriptedContainer;
  readonly run: PodScript['exec'];
  readonly stopping: AbortSignal;
}

async function play({ query }: ResourceCall, channels: ServerChannels, { of, run, stopping }: Play): Promise<Status> {
  const asked = (name: string): boolean => parseBoolParameter(query, name);
  const isTerminal = asked('tty');
  const hasOutput = asked('stdout');
  const hasErrors = asked('stderr') && !isTerminal;
  // The client learns that the streams are there.
  channels.send(hasOutput ? channel.stdout : hasErrors ? channel.stderr : channel.status, '');
  if (run === undefined) return statusOf(internalError(`container not found (${goQuoted(of.container)})`));
  const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
  const stdout = hasOutput ? channels.writable(channel.stdout) : nowhere();
  const stderr = isTerminal ? stdout : hasErrors ? channels.writable(channel.stderr) : nowhere();
  const stdin = asked('stdin') ? channels.readable(channel.stdin) : Readable.from([]);
  try {
    const signal = AbortSignal.any([channels.gone, stopping]);
    const sizes = sizesOf(channels.readable(channel.resize));
    const code = await run({
      ...of,
      command: query.getAll('command'),
      tty: isTerminal,
      stdin,
      stdout,
      stderr,
      sizes,
      signal,
    });
    await Promise.all([...new Set([stdout, stderr])].map(flush));
    return typeof code === 'number' && code !== 0 ? exited(code) : { metadata: {}, status: 'Success' };
  } catch (error) {
    return statusOf(
      isStatusError(error) ? error : internalError(`error executing command in container: ${messageOf(error)}`),
    );
  } finally {
    stdin.destroy();
  }
}

async function flush(stream: Writable): Promise<void> {
  if (!stream.writableEnded) stream.end();
  await finished(stream).catch(() => undefined);
}

function exited(code: number): Status {
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

function statusOf(error: Error): Status {
  return isStatusError(error) ? error.status : internalError(error.message).status;
}

async function* sizesOf(source: Readable): AsyncGenerator<{ readonly columns: number; readonly rows: number }> {
  const messages: AsyncIterable<Buffer> = source;
  for await (const message of messages) {
    for (const text of message.toString().match(/\{[^{}]*\}/g) ?? []) {
      const { Width: columns, Height: rows } = JSON.parse(text) as {
        readonly Width?: unknown;
        readonly Height?: unknown;
      };
      if (typeof columns === 'number' && typeof rows === 'number') yield { columns, rows };
    }
  }
}
