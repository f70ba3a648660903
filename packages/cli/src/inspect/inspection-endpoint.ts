import type { InformerRow, KeysView, OverviewView, TimelineView } from '@kctl/inspection';
import type { ReadPod } from '@kctl/pods';
import { messageOf } from '@kctl/telemetry/internal';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { readUrl } from '../read-url.js';

/** Path of the inspection of an operator, below its address. */
export const inspectionPath = '/debug/kctl/';
/** How long it may take to answer, in ms. */
const answerMs = 10_000;
/** Longest answer, in bytes. */
const maxAnswerBytes = 32 * 1024 * 1024;
/** Longest part of an answer in an error. */
const maxShownLength = 1000;
/** Number of requested keys, as many as a user reads. */
const maxKeys = 20;

/** State of the operator as a whole from its inspection. */
export interface InspectionState {
  readonly overview: OverviewView;
  /** Keys with problems come first. */
  readonly keys: KeysView;
  readonly informers: readonly InformerRow[];
}

/**
 * The port of an address such as `127.0.0.1:8082`; undefined if there is no valid port, or if it is 0, which stands for
 * any.
 */
export function portOf(address: string): number | undefined {
  const port = Number(/:(\d{1,5})$/.exec(address)?.[1] ?? 0);
  return port === 0 || port > 65_535 ? undefined : port;
}

/** The port at which a pod serves its inspection, by its port of that name, its arguments or its environment. */
export function inspectionPortOf(pod: ReadPod): number | undefined {
  for (const { ports = [], env = [], args = [], command = [] } of pod.spec?.containers ?? []) {
    const named = ports.find(({ name }) => name === 'inspection');
    if (named !== undefined) return named.containerPort;
    const flags = [...command, ...args].join(' ');
    const [, flag] = /--inspection-bind-address[= ](\S+)/.exec(flags) ?? [];
    const address = flag ?? env.find(({ name }) => name === 'INSPECTION_BIND_ADDRESS')?.value;
    const port = portOf(address ?? '');
    if (port !== undefined) return port;
  }
  return undefined;
}

/** The address of the page, of what a person gives: `http://127.0.0.1:8082/debug/kctl/`, `127.0.0.1:8082`. @throws CliError */
export function inspectionUrl(given: string): string {
  const text = /^https?:\/\//i.test(given) ? given : `http://${given}`;
  if (!URL.canParse(text))
    throw new CliError(
      `--url ${JSON.stringify(given)} is not an address: expected one such as http://127.0.0.1:8082, as kctl dev prints it`,
      { exitCode: 2 },
    );
  return new URL(inspectionPath, text).href;
}

/** Response of a replica to `timeline`. @throws CliError if it responds otherwise */
export async function askTimeline(
  io: CliIo,
  base: string,
  query: Readonly<Record<string, string>>,
): Promise<TimelineView> {
  return await ask(io, { base, view: `timeline?${new URLSearchParams(query).toString()}`, isExpected: isTimeline });
}

/** Responses of a replica to all requests but timelines. @throws CliError if it responds otherwise */
export async function askState(io: CliIo, base: string): Promise<InspectionState> {
  const [overview, keys, informers] = await Promise.all([
    ask(io, { base, view: 'overview', isExpected: isOverview }),
    ask(io, { base, view: `keys?limit=${maxKeys}`, isExpected: isKeys }),
    ask(io, { base, view: 'informers', isExpected: isInformers }),
  ]);
  return { overview, keys, informers };
}

interface Question<T> {
  readonly base: string;
  readonly view: string;
  readonly isExpected: (value: unknown) => value is T;
}

async function ask<T>({ signal }: CliIo, { base, view, isExpected }: Question<T>): Promise<T> {
  let text: string;
  try {
    const answer = await readUrl(`${base}${view}`, { maxBytes: maxAnswerBytes, timeoutMs: answerMs, signal });
    text = answer.text;
    if (answer.status !== 200)
      throw new CliError(`${base}${view} answers ${answer.status}: ${text.trim().slice(0, maxShownLength)}`);
  } catch (error) {
    if (signal.aborted || error instanceof CliError) throw error;
    throw new CliError(
      `${base} does not answer (${messageOf(rootOf(error))}): is the operator running, with inspectionBindAddress?`,
    );
  }
  const value = parsed(text);
  if (isExpected(value)) return value;
  throw new CliError(`${base} does not answer as the inspection of an operator does: is this the address of another?`);
}

/** The error behind a failed fetch, because its cause has the reason. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isTimeline(value: unknown): value is TimelineView {
  return hasList(value, 'cycles') && hasList(value, 'keys') && hasList(value, 'writtenBy');
}

function isOverview(value: unknown): value is OverviewView {
  return hasList(value, 'problems') && hasList(value, 'controllers');
}

function isKeys(value: unknown): value is KeysView {
  return hasList(value, 'rows');
}

function isInformers(value: unknown): value is readonly InformerRow[] {
  return Array.isArray(value);
}

function hasList(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Array.isArray(Reflect.get(value, name));
}
