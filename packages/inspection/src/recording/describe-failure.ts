import { isStatusError, type StatusError } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { ownText } from './own-text.js';

/** How much of a message is kept if messages are recorded, in UTF-16 units (at most 1000 bytes). */
const maxMessage = 500;
/** How long the rest may be. */
const maxSummary = 2000;
const maxDepth = 8;

/** Options of {@link describeFailure}. */
export interface FailureOptions {
  /** Whether the messages of errors are recorded, which may repeat contents of objects. */
  readonly withMessages: boolean;
}

/**
 * Describes an error without repeating contents of objects. The description has code, reason, resource and fields of
 * the API server's answers, and class, code and the line of the program of all others. Messages are omitted unless they
 * are enabled, because the API server quotes values in them, and so do programs. Does not throw for any thrown value.
 */
export function describeFailure(error: unknown, { withMessages }: FailureOptions): string {
  const summary = ownText(summaryOf(error), maxSummary);
  return withMessages ? `${summary}: ${textOf(error)}` : summary;
}

/** A value that cannot be read, such as a proxy that was revoked, is an Error without a name. */
function summaryOf(error: unknown): string {
  try {
    const chain = chainOf(error);
    const status = chain.find((link) => isStatusError(link));
    return status === undefined ? describeThrown(chain) : describeStatus(status);
  } catch {
    return 'Error';
  }
}

/** A value that cannot be read has no message. */
function textOf(error: unknown): string {
  try {
    return ownText(messageOf(error), maxMessage);
  } catch {
    return '';
  }
}

function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let link = error; chain.length < maxDepth && link !== undefined && !chain.includes(link); ) {
    chain.push(link);
    link = read(link, 'cause');
  }
  return chain;
}

/** `409 Conflict: deployments.apps` or `422 Invalid: websites.example.com: spec.replicas (FieldValueInvalid)`. */
function describeStatus(error: StatusError): string {
  const httpCode = read(error, 'httpCode');
  const status = read(error, 'status');
  const details = read(status, 'details');
  const reason = read(status, 'reason');
  const kind = read(details, 'kind');
  const group = read(details, 'group');
  const causes = read(details, 'causes');
  const code = Number.isInteger(httpCode) && Number(httpCode) > 0 ? `${Number(httpCode)} ` : '';
  const name = isWord(reason) ? reason : 'failed';
  const inGroup = isResource(group) && group !== '' ? `.${group}` : '';
  const fields = (Array.isArray(causes) ? causes : []).flatMap((cause: unknown) => {
    const field = read(cause, 'field');
    const why = read(cause, 'reason');
    // The part in brackets may be a user-defined key.
    const path = typeof field === 'string' ? field.replace(/\[[^\]]*\]/g, '[]') : '';
    if (!/^[\w.[\]<>]{1,200}$/.test(path)) return [];
    return [isWord(why) ? `${path} (${why})` : path];
  });
  return [`${code}${name}`, ...(isResource(kind) ? [`${kind}${inGroup}`] : []), ...fields.slice(0, 5)].join(': ');
}

/** `ReconcilePanicError: TypeError at src/controllers/website.ts:42`. */
function describeThrown(chain: readonly unknown[]): string {
  const names = chain.map((link) => {
    if (!(link instanceof Error)) return `thrown ${link === null ? 'null' : typeof link}`;
    const name = read(link, 'name');
    const code = read(link, 'code');
    const named = typeof name === 'string' && /^[A-Za-z_$][\w$]{0,63}$/.test(name) ? name : 'Error';
    return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? `${named} [${code}]` : named;
  });
  const place = chain.map((link) => placeOf(link)).findLast((found) => found !== undefined);
  return `${names.join(': ')}${place === undefined ? '' : ` at ${place}`}`;
}

/** The first line of the program itself, by the stack. The message, which may look like one, is cut off. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const stack = read(error, 'stack');
  const message = read(error, 'message');
  if (typeof stack !== 'string' || typeof message !== 'string') return undefined;
  const at = stack.indexOf(message);
  const frames = at === -1 ? '' : stack.slice(at + message.length);
  for (const line of frames.split('\n', 30)) {
    const [, path] = /^\s+at .*?\(?((?:file:\/\/)?\/?[^\s()]+:\d+):\d+\)?$/.exec(line) ?? [];
    if (path === undefined || /node_modules|node:|\/packages\/[\w-]+\/(?:src|dist)\//.test(path)) continue;
    return path.split(/[\\/]/).slice(-3).join('/');
  }
  return undefined;
}

/** A field of any thrown value, whose getter may throw. */
function read(value: unknown, field: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return Reflect.get(value, field);
  } catch {
    return undefined;
  }
}

function isWord(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z]{1,64}$/.test(text);
}

function isResource(text: unknown): text is string {
  return typeof text === 'string' && /^[a-zA-Z0-9.-]{0,253}$/.test(text);
}
