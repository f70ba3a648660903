import { shownValue } from '@kctl/options';

/** ms, or a string in the format of Go and Kubernetes durations (`300ms`, `1.5h`, `1h30m`). */
export type Duration = number | string;

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|\u03bcs|ms|s|m|h)/g;
const whole = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|\u03bcs|ms|s|m|h))+)$/;

/** The schema of a field with a duration, for the CRD of a kind that has one. */
export const durationSchema: { readonly type: 'string'; readonly pattern: string } = Object.freeze({
  type: 'string',
  pattern: '^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$',
});

/**
 * The ms of a duration, by the rules of Go's `time.ParseDuration` for a string; a number is returned as it is.
 *
 * @throws TypeError naming the value and what is expected
 *
 * @example
 * ```ts
 * import { formatDuration, parseDuration } from '@kctl/wait';
 *
 * console.log(parseDuration('1h30m'), formatDuration(5_400_000)); // 5400000 1h30m0s
 * ```
 */
export function parseDuration(duration: Duration, field = 'duration'): number {
  if (typeof duration === 'number' && Number.isFinite(duration)) return duration;
  if (typeof duration !== 'string' || !whole.test(duration))
    throw new TypeError(
      `${field} ${shownValue(duration)} is not valid: expected a number of ms, or a string such as "90s", "1h30m" or "300ms"`,
    );
  let ms = 0;
  for (const [, amount = '', unit = ''] of duration.matchAll(part)) ms += Number(amount) * (unitMs[unit] ?? 0);
  return duration.startsWith('-') ? -ms : ms;
}

/**
 * A duration as Go writes it and Kubernetes stores it: `1h30m0s`, `1.5s`, `300ms`, `0s`; parts of a nanosecond are
 * rounded.
 *
 * @throws TypeError when `ms` is not a finite number
 */
export function formatDuration(ms: number): string {
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw new TypeError(`duration ${shownValue(ms)} is not valid: expected a number of ms`);
  const sign = ms < 0 ? '-' : '';
  // Seconds first, because a century in nanoseconds is not an exact number.
  let seconds = Math.floor(Math.abs(ms) / 1000);
  let nanoseconds = Math.round((Math.abs(ms) - seconds * 1000) * 1e6);
  if (nanoseconds === 1e9) [seconds, nanoseconds] = [seconds + 1, 0];
  if (seconds === 0) {
    if (nanoseconds === 0) return '0s';
    if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`;
    if (nanoseconds < 1e6) return `${sign}${decimal(nanoseconds, 3)}µs`;
    return `${sign}${decimal(nanoseconds, 6)}ms`;
  }
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = decimal((seconds % 60) * 1e9 + nanoseconds, 9);
  const leading = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : '';
  return `${sign}${leading}${rest}s`;
}

/** An integer divided by a power of ten, without zeros at the end. */
function decimal(value: number, digits: number): string {
  const text = String(value).padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`;
}
