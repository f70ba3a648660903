/** How deep a chain of causes is looked at. */
const maxCauses = 8;

/**
 * The delay requested by a server, in ms, from `retryAfterMs` or `retryAfterSeconds` of the error, or
 * `status.details.retryAfterSeconds` of a Kubernetes status error, of the error itself or of its causes. Undefined if
 * not given.
 */
export function retryAfterMs(error: unknown): number | undefined {
  let link: unknown = error;
  for (let depth = 0; depth < maxCauses && isObject(link); depth++) {
    const own = positive(link['retryAfterMs']) ?? seconds(link) ?? seconds(detailsOf(link));
    if (own !== undefined) return own;
    link = link['cause'];
  }
  return undefined;
}

/**
 * The delay requested by a `Retry-After` header (seconds or an HTTP date), in ms. `now` is the wall-clock time.
 * Undefined if missing or not valid.
 */
export function retryAfterOfHeader(header: string | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function detailsOf(error: Record<string, unknown>): Record<string, unknown> | undefined {
  const status = error['status'];
  const details = isObject(status) ? status['details'] : undefined;
  return isObject(details) ? details : undefined;
}

function seconds(holder: Record<string, unknown> | undefined): number | undefined {
  const value = positive(holder?.['retryAfterSeconds']);
  return value === undefined ? undefined : value * 1000;
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
