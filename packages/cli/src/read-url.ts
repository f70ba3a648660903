import { messageOf } from '@kctl/telemetry/internal';
import { CliError } from './errors.js';

/** Limits of {@link readUrl}. */
export interface ReadUrlOptions {
  /** Longest answer, in bytes after decompression. */
  readonly maxBytes: number;
  /** How long the answer may take, in ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** An answer of {@link readUrl}. */
export interface UrlAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Reads an address. It follows no redirect, which may lead to a place that the person has not named, and reads no more than
 * `maxBytes`.
 *
 * @throws CliError for a redirect, a longer answer, and one that takes too long; what `fetch` throws; the signal's reason
 */
export async function readUrl(url: string, { maxBytes, timeoutMs, signal }: ReadUrlOptions): Promise<UrlAnswer> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.any([signal, deadline]) });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      const location = response.headers.get('location') ?? '';
      const target = URL.canParse(location, url) ? new URL(location, url).href : JSON.stringify(location);
      throw new CliError(`${url} redirects to ${target}: name that address if you trust it`);
    }
    return { status: response.status, text: await textOf(url, response, maxBytes) };
  } catch (error) {
    if (!signal.aborted && deadline.aborted)
      throw new CliError(`${url} has not answered in full after ${timeoutMs / 1000} s: ${messageOf(error)}`, {
        cause: error,
      });
    throw error;
  }
}

async function textOf(url: string, { body }: Response, maxBytes: number): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the body.
  const pieces: AsyncIterable<Uint8Array> = body;
  for await (const chunk of pieces) {
    length += chunk.length;
    if (length > maxBytes) throw new CliError(`${url} answers with more than ${maxBytes} bytes: is the address right?`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
