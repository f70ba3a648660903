import { hash } from 'node:crypto';
import type { Logger } from '@kctl/telemetry';
import { callHook } from './guarded-hooks.js';

/** A warning that the server sent along with an answer, e.g. about a deprecated API. */
export interface ServerWarning {
  /** Always 299: other codes are not for API clients. */
  readonly code: 299;
  readonly agent: string;
  readonly text: string;
}

/** The request whose answer had a warning. */
export interface WarnedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
}

/**
 * `299 agent "text" ["date"]`, separated by commas if there are several; the message is a quoted string with \-escapes.
 */
const warning = /299 (\S+) "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

/** The warnings with code 299 in `Warning` headers. */
export function parseWarnings(header: string | string[] | undefined): readonly ServerWarning[] {
  if (header === undefined) return [];
  const text = typeof header === 'string' ? header : header.join(', ');
  return Array.from(text.matchAll(warning), ([, agent = '-', quoted = '']) => ({
    code: 299,
    agent,
    text: fromBytes(quoted.replace(/\\(.)/g, '$1')),
  }));
}

/** Header values are bytes, of which each is one character here: UTF-8, as API servers write them. Anything else stays as it is. */
function fromBytes(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text) || /[^\u0000-\u00ff]/.test(text)) return text;
  const decoded = Buffer.from(text, 'latin1').toString();
  return decoded.includes('\ufffd') ? text : decoded;
}

/** Hands out the warnings of answers. */
export interface WarningReporter {
  report(headers: Readonly<Record<string, string | string[] | undefined>>, request: WarnedRequest): void;
}

/** How many warnings are remembered, to log each of them once, by 6 bytes of their hash, since warnings may be long. */
const maxSeen = 100_000;

/** Calls a hook with each warning; without one, each warning is logged once. */
export function createWarningReporter(
  onWarning: ((warning: ServerWarning, request: WarnedRequest) => void) | undefined,
  logger: Logger,
): WarningReporter {
  const seen = new Set<number>();
  const log = ({ text }: ServerWarning, request: WarnedRequest): void => {
    const id = Number.parseInt(hash('sha1', text).slice(0, 12), 16);
    if (seen.has(id)) return;
    seen.add(id);
    // The oldest is forgotten, and logged once more when it comes again.
    const [oldest] = seen;
    if (seen.size > maxSeen && oldest !== undefined) seen.delete(oldest);
    logger.warn(text, { source: 'API server warning', ...request });
  };
  return {
    report: (headers, request) => {
      for (const warning of parseWarnings(headers['warning']))
        if (onWarning === undefined) log(warning, request);
        // The request has been executed, so a failing hook must not lose its answer.
        else
          callHook(
            () => onWarning(warning, request),
            (error) => logger.error('onWarning failed', { error }),
          );
    },
  };
}
