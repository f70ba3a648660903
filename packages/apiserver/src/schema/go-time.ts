/** Thrown for a text that is no time; the message is Go's, as far as it says where. */
export class TimeError extends Error {
  override readonly name = 'TimeError';
}

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function fail(text: string, layout: string): never {
  throw new TimeError(`parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse it`);
}

function toUtc(text: string, layout: string): [seconds: string, fraction: string] {
  const match = pattern.exec(text);
  if (match === null) fail(text, layout);
  const [, , month, day, , , , fraction = ''] = match;
  const parsed = new Date(text.replace(fraction, ''));
  if (Number.isNaN(parsed.getTime()) || Number(month) > 12 || Number(day) > 31) fail(text, layout);
  return [parsed.toISOString().slice(0, 19), fraction];
}

/** A `metav1.Time` as the server writes it: UTC, whole seconds. @throws TimeError */
export function canonicalTime(text: string): string {
  return `${toUtc(text, '2006-01-02T15:04:05Z07:00')[0]}Z`;
}

/** A `metav1.MicroTime` as the server writes it: UTC, six digits. As upstream, six digits are required. @throws TimeError */
export function canonicalMicroTime(text: string): string {
  const layout = '2006-01-02T15:04:05.000000Z07:00';
  const [seconds, fraction] = toUtc(text, layout);
  if (fraction.length !== 7) fail(text, layout);
  return `${seconds}${fraction}Z`;
}
