import type { NamespacedKey } from '@kctl/apimachinery';
import { anySignal } from '@kctl/wait';
import { PodStreamError } from '../errors.js';
import { failureOf } from '../client.js';
import type { PodsClient } from '../client.js';
import { containerNames, defaultContainer, requireContainer } from '../container.js';
import { podPath } from '../pod-path.js';
import { podKeyOf, resolvePod, resolvePods } from '../target.js';
import type { ReadPod } from '../read-pod.js';
import type { PodTarget } from '../target.js';
import { linesOf } from './lines.js';
import { checkLogOptions, logQuery } from './log-options.js';
import type { PodLogsOptions } from './log-options.js';
import { merge } from './merge.js';
import { requireTransportTo } from '../require-target.js';

/** A line that a container has logged. */
export interface LogLine {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Without the end of the line. */
  readonly text: string;
  /** When it was logged, in RFC 3339 with nanoseconds; only with `timestamps`. */
  readonly timestamp?: string;
}

interface Source {
  readonly key: NamespacedKey;
  readonly container: string;
}

/**
 * The lines that a container has logged, or those of several containers and pods, one after the other, and with
 * `follow` in the order of their arrival. It ends when the containers do, or after the existing lines; leaving the loop
 * or aborting the signal closes the connections. A pod that is on no node has no lines.
 *
 * @throws StatusError, 400 for a previous container that does not exist; PodTargetError; TypeError for an invalid
 * option; the signal's reason
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 * import { podLogs } from '@kctl/pods';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const web = { kind: Deployment, namespace: 'shop', name: 'web' };
 * for await (const { pod, text } of podLogs(client, web, { allPods: true, follow: true, tailLines: 10 })) console.log(pod, text);
 * ```
 */
export async function* podLogs(
  client: PodsClient,
  target: PodTarget,
  options: PodLogsOptions = {},
): AsyncGenerator<LogLine, void, undefined> {
  requireTransportTo('podLogs', client, target);
  checkLogOptions(options);
  const left = new AbortController();
  using link = anySignal([options.signal, left.signal]);
  const within = { ...options, signal: link.signal };
  try {
    const sources = await sourcesOf(client, target, within);
    const logs = sources.map((source) => logOf(client, source, within));
    if (options.follow === true && logs.length > 1) yield* merge(logs);
    else for (const log of logs) yield* log;
  } finally {
    left.abort();
  }
}

/** Longest result of {@link podLogText}. */
const maxTextLength = 256 * 1024 * 1024;

/**
 * The lines of {@link podLogs} as one string of at most 268,435,456 characters, each with its end. Not for `follow`: it ends when
 * the container does.
 *
 * @throws PodStreamError for a longer log; as {@link podLogs}
 */
export async function podLogText(client: PodsClient, target: PodTarget, options: PodLogsOptions = {}): Promise<string> {
  checkLogOptions(options);
  const lines: string[] = [];
  let length = 0;
  // A piece of a line has no end, so unless requested, no line is split.
  const whole = { ...options, maxLineBytes: options.maxLineBytes ?? maxTextLength };
  for await (const { text, timestamp } of podLogs(client, target, whole)) {
    length += text.length + 1;
    if (length > maxTextLength)
      throw new PodStreamError(
        `the log has more than ${maxTextLength} characters: set limitBytes or tailLines, or use podLogs`,
      );
    lines.push(timestamp === undefined ? `${text}\n` : `${timestamp} ${text}\n`);
  }
  return lines.join('');
}

async function sourcesOf(client: PodsClient, target: PodTarget, options: PodLogsOptions): Promise<readonly Source[]> {
  const { container, containers, allPods = false, signal } = options;
  const key = podKeyOf(target);
  // Without a need to look at the pod, no right to read it is needed.
  if (key !== undefined && container !== undefined && !('metadata' in target)) return [{ key, container }];
  const within = { use: 'logs' as const, ...(signal === undefined ? {} : { signal }) };
  const pods = allPods ? await resolvePods(client, target, within) : [await resolvePod(client, target, within)];
  const wanted = (pod: ReadPod): readonly string[] => {
    if (containers === 'all') return containerNames(pod);
    if (containers !== undefined) return containers.map((name) => requireContainer(pod, name));
    return [container === undefined ? defaultContainer(pod) : requireContainer(pod, container)];
  };
  return pods.flatMap((pod) => {
    const { namespace, name } = pod.metadata;
    return wanted(pod).map((each) => ({ key: { namespace, name }, container: each }));
  });
}

async function* logOf(
  client: PodsClient,
  { key, container }: Source,
  options: PodLogsOptions,
): AsyncGenerator<LogLine, void, undefined> {
  const response = await client.transport.send({
    method: 'GET',
    path: podPath(key, 'log', logQuery(container, options)),
    accept: 'application/json, */*',
    expect: options.follow === true ? 'watch' : 'list',
    signal: options.signal,
  });
  if (response.status >= 300)
    throw await failureOf(response, `log of container ${container} in pod ${key.namespace}/${key.name}`);
  const about = { namespace: key.namespace, pod: key.name, container };
  for await (const line of linesOf(response.body, options.maxLineBytes ?? 1024 * 1024)) {
    if (options.timestamps !== true) yield { ...about, text: line };
    else yield { ...about, ...splitTimestamp(line) };
  }
}

function splitTimestamp(line: string): { readonly text: string; readonly timestamp?: string } {
  const [, timestamp, text] = /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))(?: |$)(.*)$/s.exec(line) ?? [];
  return timestamp === undefined ? { text: line } : { text: text ?? '', timestamp };
}
