import { isIPv4, isIPv6 } from 'node:net';

const goDuration = /^[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|\u03bcs|ms|s|m|h))+$/;
const wordyDuration = /(?<!\d)(\d+)\s*([A-Za-zµ]+)/g;
const durationUnits = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const durationWords = /^(nano|micro|milli|sec|min|hour|day|week)/;

/** As Go parses one, or, as in Scala, with any number and unit in it. */
function isDuration(text: string): boolean {
  if (text === '0' || goDuration.test(text)) return true;
  const units = Array.from(text.matchAll(wordyDuration), ([, , unit = '']) => unit.toLowerCase());
  return units.some((unit) => durationUnits.has(unit) || durationWords.test(unit));
}

const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

/** What stands behind a second `t` is not looked at. */
function isDateTime(text: string): boolean {
  const [day = '', time = ''] = text.toLowerCase().split('t');
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  if (match === null || !isDate(day)) return false;
  const [, hour = '', minute = '', second = ''] = match;
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

/** Go parses decimal parts with zeros before them, as Kubernetes does; it takes no zone. */
function isAddress(text: string): boolean {
  const plain = text.replaceAll(/(?<![0-9a-fA-F:])0+(?=\d)/g, '');
  return !text.includes('%') && (isIPv4(plain) || isIPv6(text));
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/');
  if (more !== undefined || !/^\d{1,3}$/.test(bits) || !isAddress(address)) return false;
  return Number(bits) <= (address.includes(':') ? 128 : 32);
}

const letter = 'a-zA-Z\\p{L}';
const sign = `${letter}0-9\\p{S}`;
const hostname = new RegExp(
  `^([${sign}](-?[${sign}]{0,62})?|([${sign}]([-${sign}]{0,61}[${sign}])?\\.)+[${letter}]{2,63})$`,
  'u',
);

/** Letters and symbols of any script are allowed, and no dot without a top-level domain behind it. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return hostname.test(text) && text.split('.').every((part) => Buffer.byteLength(part) <= 63);
}

/** Of 6, 8 or 20 bytes, in pairs or in fours: as Go's `net.ParseMAC`. */
function isMac(text: string): boolean {
  const [first = '', ...rest] = /^[0-9a-f]{4}\./i.test(text)
    ? text.split('.')
    : text.split(text[2] === '-' ? '-' : ':');
  const size = first.length;
  const isHex = [first, ...rest].every((part) => part.length === size && /^[0-9a-f]+$/i.test(part));
  return isHex && (size === 2 || size === 4) && [6, 8, 20].includes((size / 2) * (rest.length + 1));
}

function isUri(text: string): boolean {
  if (text.startsWith('/')) return !/\s/.test(text);
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && URL.canParse(text);
}

function isUuid(version: string, variant = '[0-9a-f]'): (text: string) => boolean {
  const [third, fourth] = [`${version}[0-9a-f]{3}`, `${variant}[0-9a-f]{3}`];
  const pattern = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i');
  return (text) => pattern.test(text);
}

/** Formats that the server checks; any other format is ignored. Mirrors `strfmt.Default`. */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', (text: string): boolean => /^[0-9a-f]{24}$/i.test(text)],
  ['byte', (text: string): boolean => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['cidr', isCidr],
  ['date', isDate],
  ['date-time', isDateTime],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', (text: string): boolean => /^[^\s@<>]+@[^\s@<>]+$/.test(text)],
  ['hexcolor', (text: string): boolean => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)],
  ['hostname', isHostname],
  ['ipv4', (text: string): boolean => isAddress(text) && text.includes('.')],
  ['ipv6', (text: string): boolean => isAddress(text) && text.includes(':')],
  ['k8s-long-name', (text: string): boolean => text.length <= 253 && new RegExp(`^${label}(\\.${label})*$`).test(text)],
  ['k8s-short-name', (text: string): boolean => new RegExp(`^${label}$`).test(text)],
  ['mac', isMac],
  ['password', (): boolean => true],
  ['uri', isUri],
  ['uuid', isUuid('[0-9a-f]')],
  ['uuid3', isUuid('3')],
  ['uuid4', isUuid('4', '[89ab]')],
  ['uuid5', isUuid('5', '[89ab]')],
]);

/** Whether a text satisfies a format; undefined where the server does not check that format. */
export function matchesFormat(format: string, text: string): boolean | undefined {
  return formats.get(format)?.(text);
}
