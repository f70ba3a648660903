import { isIPv4, isIPv6 } from 'node:net';

const durationPattern =
  /^([+-]?)(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d|w))*$/;
const wordyDuration =
  /^\s*\d+\s*(ns|nano|nanosecond|us|µs|micro|microsecond|ms|milli|millisecond|s|sec|second|m|min|minute|h|hr|hour|d|day|w|week|wk)s?\s*$/;
const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';

function isCalendarDay(text: string): boolean {
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/.exec(text);
  if (match === null) return false;
  const [, day = '', hour = '', minute = '', second = ''] = match;
  return isCalendarDay(day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/');
  if (more !== undefined || !/^\d{1,3}$/.test(bits)) return false;
  return isIPv4(address) ? Number(bits) <= 32 : isIPv6(address) && Number(bits) <= 128;
}

function isUri(text: string): boolean {
  if (text.startsWith('/')) return !/\s/.test(text);
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && URL.canParse(text);
}

function isUuid(version: string): (text: string) => boolean {
  const pattern = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
  return (text) => pattern.test(text);
}

/** Formats that the server checks; any other format is ignored. Mirrors `strfmt.Default`. */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', (text: string): boolean => /^[0-9a-f]{24}$/i.test(text)],
  ['byte', (text: string): boolean => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['cidr', isCidr],
  ['date', (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isCalendarDay(text)],
  ['date-time', isDateTime],
  ['datetime', isDateTime],
  ['duration', (text: string): boolean => durationPattern.test(text) || wordyDuration.test(text)],
  ['email', (text: string): boolean => /^[^\s@<>]+@[^\s@<>]+$/.test(text)],
  ['hexcolor', (text: string): boolean => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)],
  [
    'hostname',
    (text: string): boolean =>
      text.length <= 255 && /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*\.?$/i.test(text),
  ],
  ['ipv4', (text: string): boolean => isIPv4(text)],
  ['ipv6', (text: string): boolean => isIPv6(text)],
  ['k8s-long-name', (text: string): boolean => text.length <= 253 && new RegExp(`^${label}(\\.${label})*$`).test(text)],
  ['k8s-short-name', (text: string): boolean => new RegExp(`^${label}$`).test(text)],
  ['mac', (text: string): boolean => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text)],
  ['password', (): boolean => true],
  ['uri', isUri],
  ['uuid', isUuid('[0-9a-f]')],
  ['uuid3', isUuid('3')],
  ['uuid4', isUuid('4')],
  ['uuid5', isUuid('5')],
]);

/** Whether a text satisfies a format; undefined where the server does not check that format. */
export function matchesFormat(format: string, text: string): boolean | undefined {
  return formats.get(format)?.(text);
}
