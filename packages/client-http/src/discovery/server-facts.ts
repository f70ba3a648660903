import type { Kind } from '@kctl/apimachinery';
import type { AbortOptions } from '@kctl/client';
import { requireOptions, shownType, shownValue, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { sendChecked } from '../transport/send-checked.js';
import { collectPrefix } from '../bytes/byte-stream.js';
import { decodeJson } from '../bytes/codec.js';
import { statusErrorOf } from '../transport/failure-status.js';
import type { Transport } from '../transport/transport.js';
import { fetchVersion } from './discovery.js';

/** The part of an answer that is read, in bytes. */
const maxBytes = 1024 * 1024;

/** The version information of a server. */
export interface ServerVersion {
  /** `1`. */
  readonly major: string;
  /** `36`; some providers add a `+`. */
  readonly minor: string;
  /** `v1.36.3`. */
  readonly gitVersion: string;
  /** `linux/amd64`. */
  readonly platform: string;
}

/**
 * The version of the server, from `/version`. Mirrors client-go's `ServerVersion`.
 *
 * @throws StatusError, TransportError; DecodeError for an answer that is not JSON
 */
export async function serverVersion(transport: Transport, options: AbortOptions = {}): Promise<ServerVersion> {
  requireTransport('serverVersion', transport);
  requireOptions('serverVersion', options, optionNames);
  const { signal } = options;
  const { status, text } = await readPath(transport, '/version', signal);
  if (status !== 200) throw statusErrorOf({ status, text }, `GET /version answered ${status}`);
  const value = decodeJson(text, 'GET /version');
  const fields: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  const textOf = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    major: textOf('major'),
    minor: textOf('minor'),
    gitVersion: textOf('gitVersion'),
    platform: textOf('platform'),
  };
}

const optionNames: OptionNames<AbortOptions> = { signal: signalOption };
const endpoints: readonly unknown[] = ['livez', 'readyz'];

function requireTransport(what: string, transport: unknown): void {
  const isTransport =
    typeof transport === 'object' && transport !== null && typeof Reflect.get(transport, 'send') === 'function';
  if (!isTransport)
    throw new TypeError(
      `${what}: the transport is ${shownType(transport)}: expected the transport of a client, or what createTransport returns`,
    );
}

/** How a server is. */
export interface ServerHealth {
  readonly isHealthy: boolean;
  /** One line for each check, such as `[+]etcd ok`; the plain answer if the server refuses details. */
  readonly details: string;
}

/**
 * Checks whether a server is alive (`livez`) or takes requests (`readyz`). A negative answer is a result, not an error.
 *
 * @throws TransportError if there is no answer; StatusError 401 and 403
 */
export async function serverHealth(
  transport: Transport,
  endpoint: 'livez' | 'readyz',
  options: AbortOptions = {},
): Promise<ServerHealth> {
  requireTransport('serverHealth', transport);
  requireOptions('serverHealth', options, optionNames);
  if (!endpoints.includes(endpoint))
    throw new TypeError(`serverHealth: the endpoint is ${shownValue(endpoint)}: expected "livez" or "readyz"`);
  const { signal } = options;
  const { status, text } = await readPath(transport, `/${endpoint}?verbose`, signal);
  if (status === 401 || status === 403) throw statusErrorOf({ status, text }, text.trim());
  return { isHealthy: status === 200, details: text.trim() };
}

/**
 * Reports whether the server serves a kind, for programs that use a CustomResourceDefinition or a newer version if
 * available. It sends a request each time, even for built-in kinds.
 *
 * @throws StatusError, TransportError if the group does not answer
 */
export async function isServed(
  transport: Transport,
  wanted: Pick<Kind, 'group' | 'version' | 'kind'>,
  options: AbortOptions = {},
): Promise<boolean> {
  requireTransport('isServed', transport);
  requireOptions('isServed', options, optionNames);
  const given: unknown = wanted;
  for (const field of ['group', 'version', 'kind']) {
    const value: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, field) : undefined;
    if (typeof value !== 'string' || (value === '' && field !== 'group'))
      throw new TypeError(
        `isServed: the kind has no ${field}: expected a token such as ConfigMap, or { group, version, kind }`,
      );
  }
  const { group, version, kind } = wanted;
  const { signal } = options;
  const resources = await fetchVersion(transport, { group, version }, { signal });
  return resources?.some((resource) => resource.kind === kind) === true;
}

async function readPath(
  transport: Transport,
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  const { status, body } = await sendChecked(transport, {
    ...{ method: 'GET', path, signal },
    accept: 'application/json, */*',
  });
  return { status, text: (await collectPrefix(body, maxBytes)).bytes.toString() };
}
