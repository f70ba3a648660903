import type { AbortOptions } from '@kctl/client';
import { booleanOption, listOption, numberProblem, requireOptions, signalOption, textOption } from '@kctl/options';
import type { OptionCheck } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { QueryFields } from '../pod-path.js';

/** Options of {@link podLogs}. */
export interface PodLogsOptions extends AbortOptions {
  /** One container. @default that of the annotation `kubectl.kubernetes.io/default-container`, else the first one */
  readonly container?: string;
  /** Several containers, or all of them, including init, regular and ephemeral ones. */
  readonly containers?: readonly string[] | 'all';
  /** Every pod of a workload or Service, not the best one alone. @default false */
  readonly allPods?: boolean;
  /** Goes on while the container runs. @default false */
  readonly follow?: boolean;
  /** The container that ran before the last restart. @default false */
  readonly previous?: boolean;
  /** Not older than this, in seconds. */
  readonly sinceSeconds?: number;
  /** Not older than this time, as an RFC 3339 string or Date. */
  readonly sinceTime?: string | Date;
  /** The last lines alone. @default all, by what the node keeps */
  readonly tailLines?: number;
  /** At most this many bytes of each container. @default no limit */
  readonly limitBytes?: number;
  /** Requests the time of each line, see {@link LogLine.timestamp}. @default false */
  readonly timestamps?: boolean;
  /**
   * A longer line is returned in pieces of at most this many bytes, split between two characters.
   *
   * @default 1_048_576; if returned as one string, no line is split
   */
  readonly maxLineBytes?: number;
}

const containersOption: OptionCheck = (name, value) =>
  value === 'all' ? undefined : listOption("'all', or a list of containers", textOption)(name, value);

const optionNames: OptionNames<PodLogsOptions> = {
  container: textOption,
  containers: containersOption,
  allPods: booleanOption,
  follow: booleanOption,
  previous: booleanOption,
  sinceSeconds: true,
  sinceTime: true,
  tailLines: true,
  limitBytes: true,
  timestamps: booleanOption,
  maxLineBytes: true,
  signal: signalOption,
};

/** @throws TypeError naming each option that is not valid */
export function checkLogOptions(options: PodLogsOptions): void {
  requireOptions('podLogs', options, optionNames);
  const { sinceSeconds, sinceTime, tailLines, limitBytes, maxLineBytes, container, containers } = options;
  const problems = [
    numberProblem('sinceSeconds', sinceSeconds ?? 1, { least: 1, integer: true }),
    numberProblem('tailLines', tailLines ?? 0, { integer: true }),
    numberProblem('limitBytes', limitBytes ?? 1, { least: 1, integer: true }),
    numberProblem('maxLineBytes', maxLineBytes ?? 1, { least: 1, integer: true }),
    container !== undefined && containers !== undefined ? 'container and containers are both set: set one' : undefined,
    sinceSeconds !== undefined && sinceTime !== undefined
      ? 'sinceSeconds and sinceTime are both set: set one'
      : undefined,
    sinceTime !== undefined && Number.isNaN(new Date(sinceTime).getTime())
      ? `sinceTime ${JSON.stringify(sinceTime)} is not a time: expected RFC 3339, such as 2026-01-31T12:00:00Z`
      : undefined,
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`podLogs: ${problems.join('; ')}`);
}

/** The query of a request for the log of one container. */
export function logQuery(container: string | undefined, options: PodLogsOptions): QueryFields {
  const { follow, previous, sinceSeconds, sinceTime, tailLines, limitBytes, timestamps } = options;
  return {
    container,
    follow,
    previous,
    sinceSeconds,
    // Servers take whole seconds alone.
    sinceTime: sinceTime === undefined ? undefined : new Date(sinceTime).toISOString().replace(/\.\d+Z$/, 'Z'),
    tailLines,
    limitBytes,
    timestamps,
  };
}
