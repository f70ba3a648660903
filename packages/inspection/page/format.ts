/** `12 ms`, `3.4 s`, `5 min`, `2.0 h` */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

/** `12.3 MiB` */
export function bytes(value: number | undefined): string {
  if (value === undefined) return '';
  return value < 1024 * 1024 ? `${(value / 1024).toFixed(1)} KiB` : `${(value / 1024 / 1024).toFixed(1)} MiB`;
}

/** Time of day of the browser, with ms. */
export function clockTime(at: number): string {
  const time = new Date(at);
  return `${time.toLocaleTimeString(undefined, { hour12: false })}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
