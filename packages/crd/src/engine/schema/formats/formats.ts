import { parseDurationField, parseRequestUri } from '@kctl/cel/internal';
import { isCreditCard, isIsbn10, isIsbn13 } from './check-digits.js';
import { isMailAddress } from './mail-address.js';
import { isCidrText, isHostname, isIpv4Text, isIpv6Text, isMac } from './network.js';

type Check = (text: string) => boolean;

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

/** Characters after a second `t` are ignored, and any character separates the fraction. */
function isDateTime(text: string): boolean {
  const [day = '', time = ''] = text.toLowerCase().split('t');
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:[^\n]\d+)?(?:z|[+-]\d{2}:\d{2})$/u.exec(time);
  if (match === null || !isDate(day)) return false;
  const [, hour = '', minute = '', second = ''] = match;
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

function isUuid(version: string, variant = '[0-9a-f]'): Check {
  const [third, fourth] = [`${version}[0-9a-f]{3}`, `${variant}[0-9a-f]{3}`];
  const pattern = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i');
  return (text) => pattern.test(text);
}

function isLike(pattern: RegExp): Check {
  return (text) => pattern.test(text);
}

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const shortName = new RegExp(`^${label}$`);
const longName = new RegExp(`^${label}(?:\\.${label})*$`);
const part = '[\\t\\n\\f\\r ]*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])[\\t\\n\\f\\r ]*';

/** Formats that the server checks, without hyphens, which count for nothing; any other format is ignored. Mirrors `strfmt.Default`. */
const formats: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', isLike(/^[0-9a-f]{24}$/i)],
  ['byte', (text) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['cidr', isCidrText],
  ['creditcard', isCreditCard],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', (text) => parseDurationField(text) !== undefined],
  ['email', isMailAddress],
  ['hexcolor', isLike(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['hostname', isHostname],
  ['ipv4', isIpv4Text],
  ['ipv6', isIpv6Text],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['k8slongname', (text) => text.length <= 253 && longName.test(text)],
  ['k8sshortname', (text) => text.length <= 63 && shortName.test(text)],
  ['mac', isMac],
  ['password', () => true],
  ['rgbcolor', isLike(new RegExp(`^rgb\\(${part},${part},${part}\\)$`))],
  ['ssn', isLike(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['uri', (text) => 'value' in parseRequestUri(text)],
  ['uuid', isUuid('[0-9a-f]')],
  ['uuid3', isUuid('3')],
  ['uuid4', isUuid('4', '[89ab]')],
  ['uuid5', isUuid('5', '[89ab]')],
]);

/** Whether a string satisfies a format; undefined if the server does not check that format. */
export function matchesFormat(format: string, text: string): boolean | undefined {
  return formats.get(format.replaceAll('-', ''))?.(text);
}
