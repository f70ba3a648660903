// The subresource `log` of pods.
import { forbidden, invalidValue, type FieldError, goTimeQuoted } from '@kctl/crd/internal/engine';
import { formatTime, parseBoolParameter, parseIntParameter } from '../protocol/go-text.js';
import type { Backend, ResourceCall } from '../handlers/call.js';
import { commonHeaders } from '../protocol/plain-reply.js';
import { badRequest, invalid } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
import { kubeletOf, nodeOf, plainError, refusedDial, requireContainer, requirePod } from './place.js';
import { checkLine } from '../scripts/check-script.js';
import type { LogEntry, LogRequest, ScriptedLog } from '../scripts/pod-scripts.js';

type LogQuery = Omit<LogRequest, 'namespace' | 'name' | 'container' | 'signal'>;

function readQuery({ query }: ResourceCall): LogQuery {
  const given: { sinceSeconds?: number; tailLines?: number; limitBytes?: number } = {};
  for (const name of ['sinceSeconds', 'tailLines', 'limitBytes'] as const) {
    const value = parseIntParameter(query, name);
    if (value !== undefined) given[name] = value;
  }
  const sinceTime = query.get('sinceTime') ?? '';
  if (sinceTime !== '' && Number.isNaN(Date.parse(sinceTime)))
    throw badRequest(
      `parsing time ${goTimeQuoted(sinceTime)} as "2006-01-02T15:04:05Z07:00": cannot parse ${goTimeQuoted(sinceTime)} as "2006"`,
    );
  return {
    follow: parseBoolParameter(query, 'follow'),
    previous: parseBoolParameter(query, 'previous'),
    timestamps: parseBoolParameter(query, 'timestamps'),
    ...given,
    ...(sinceTime !== '' && { sinceTime }),
  };
}

/** Mirrors ValidatePodLogOptions. */
function problemsOf({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogQuery): FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0)
    errors.push(invalidValue('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalidValue('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(invalidValue('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  return errors;
}

/** GET of a log. @throws StatusError */
export async function answerLog(backend: Backend, call: ResourceCall): Promise<Reply> {
  const { path, query } = call;
  const asked = readQuery(call);
  const problems = problemsOf(asked);
  if (problems.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, path.name, problems);
  const pod = requirePod(backend, call);
  const container = requireContainer(pod, query.get('container') ?? '');
  const node = nodeOf(pod);
  if (node === '') return { status: 204, headers: commonHeaders };
  const of = { namespace: path.namespace, name: path.name, container };
  if (!backend.pods.covers(of)) {
    const kubelet = kubeletOf(backend, node);
    const search = query.size === 0 ? '' : kubeletQuery(asked);
    const url = `https://${kubelet}/containerLogs/${of.namespace}/${of.name}/${container}${search}`;
    throw plainError(`Get ${JSON.stringify(url)}: ${refusedDial(kubelet)}`);
  }
  const answer = backend.pods.find(of, asked.previous ? 'previousLog' : 'log');
  if (answer === undefined && asked.previous)
    throw badRequest(
      `previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(path.name)} not found`,
    );
  const signal = AbortSignal.any([call.request.signal, backend.watch.stopping]);
  const log: ScriptedLog = typeof answer === 'function' ? await answer({ ...of, ...asked, signal }) : (answer ?? '');
  return {
    status: 200,
    headers: { ...commonHeaders, 'content-type': 'text/plain' },
    stream: async (sink) => {
      const left = new AbortController();
      sink.closed.addEventListener('abort', () => left.abort(), { once: true });
      const within = AbortSignal.any([signal, left.signal]);
      for await (const bytes of limited(linesOf(log, asked, backend.clock.now()), asked.limitBytes, within)) {
        sink.write(bytes);
        await sink.drained();
      }
      sink.end();
    },
  };
}

function kubeletQuery({
  follow,
  previous,
  timestamps,
  sinceSeconds,
  sinceTime,
  tailLines,
  limitBytes,
}: LogQuery): string {
  const fields: [string, string][] = [];
  if (follow) fields.push(['follow', 'true']);
  if (limitBytes !== undefined) fields.push(['limitBytes', String(limitBytes)]);
  if (previous) fields.push(['previous', 'true']);
  if (sinceSeconds !== undefined) fields.push(['sinceSeconds', String(sinceSeconds)]);
  if (sinceTime !== undefined) fields.push(['sinceTime', sinceTime]);
  if (tailLines !== undefined) fields.push(['tailLines', String(tailLines)]);
  if (timestamps) fields.push(['timestamps', 'true']);
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields).toString()}`;
}

async function* linesOf(log: ScriptedLog, asked: LogQuery, nowMs: number): AsyncGenerator<string> {
  const show = (line: string | LogEntry): string => {
    checkLine(line);
    const { text, time = formatTime(nowMs) } = typeof line === 'string' ? { text: line } : line;
    return asked.timestamps ? `${time} ${text}\n` : `${text}\n`;
  };
  if (typeof log !== 'string' && Symbol.asyncIterator in log) {
    for await (const line of log) yield show(line);
    return;
  }
  const all = typeof log === 'string' ? log.replace(/\n$/, '').split('\n') : [...log];
  const lines = log === '' ? [] : all;
  const since =
    asked.sinceTime === undefined ? nowMs - (asked.sinceSeconds ?? Infinity) * 1000 : Date.parse(asked.sinceTime);
  const recent = lines.filter(
    (line) => typeof line === 'string' || line.time === undefined || Date.parse(line.time) >= since,
  );
  for (const line of asked.tailLines === undefined
    ? recent
    : recent.slice(Math.max(0, recent.length - asked.tailLines)))
    yield show(line);
}

/** The bytes of the lines, up to the limit, until the signal. */
async function* limited(
  lines: AsyncGenerator<string>,
  limit: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let left = limit ?? Infinity;
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const onAbort = (): void => resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    while (left > 0) {
      const next = await Promise.race([lines.next(), ended]);
      if (next === undefined || next.done === true) return;
      const bytes = Buffer.from(next.value).subarray(0, left);
      left -= bytes.length;
      yield bytes;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // A source that waits is left at its next line.
    lines.return(undefined).catch(() => undefined);
  }
}
