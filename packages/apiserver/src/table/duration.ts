/** A duration as kubectl and the server print ages: `5s`, `3m10s`, `4h`, `2d3h`, `400d`, `3y`. Mirrors `duration.HumanDuration`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 60 * 2) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  const pair = (whole: number, unit: string, part: number, partUnit: string): string =>
    part === 0 ? `${whole}${unit}` : `${whole}${unit}${part}${partUnit}`;
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return pair(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.trunc(hours / 24 / 365);
  if (hours < 24 * 365 * 8) return pair(years, 'y', days % 365, 'd');
  return `${years}y`;
}

/**
 * The time since a timestamp, for a table cell; `<unknown>` without a timestamp. Mirrors
 * `ConvertToHumanReadableDateType`.
 */
export function ageOf(timestamp: unknown, now: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now - then);
}
