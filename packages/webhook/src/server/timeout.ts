/** The longest that an API server waits for a webhook, in ms: `timeoutSeconds` is 30 at most. */
export const longestTimeoutMs = 30_000;

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g;
const duration = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)){1,8}$/;

/**
 * Returns the API server's timeout, in ms, which it appends to the URL as `?timeout=10s`, a duration of Go. If it is
 * missing or cannot be read, the longest possible timeout.
 */
export function timeoutMsOf(url: string): number {
  const query = url.indexOf('?');
  const text = query < 0 ? null : new URLSearchParams(url.slice(query)).get('timeout');
  if (text === null || text.length > 40 || !duration.test(text)) return longestTimeoutMs;
  let ms = 0;
  for (const [, count = '0', unit = ''] of text.matchAll(part)) ms += Number(count) * (units[unit] ?? 0);
  return ms > 0 ? Math.min(ms, longestTimeoutMs) : longestTimeoutMs;
}
