import { goTimeQuoted } from '../values/go-quoted.js';

/** Thrown for a string that is not a time; the message is Go's. */
export class TimeError extends Error {
  override readonly name = 'TimeError';
}

const date = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})/;
const zone = /^(Z|[+-]\d{2}:\d{2})$/;

function fail(value: string, layout: string, why: string): never {
  throw new TimeError(`parsing time ${goTimeQuoted(value)} as ${goTimeQuoted(layout)}: ${why}`);
}

/**
 * Returns the point at which Go's parser stops in a string that does not begin with a date, which is the first
 * mismatch.
 */
function firstMisfit(value: string): [rest: string, element: string] {
  const parts: readonly [RegExp, string][] = [
    [/^\d{4}/, '2006'],
    [/^-/, '-'],
    [/^\d{2}/, '01'],
    [/^-/, '-'],
    [/^\d{2}/, '02'],
    [/^T/, 'T'],
    [/^\d{1,2}/, '15'],
    [/^:/, ':'],
    [/^\d{2}/, '04'],
    [/^:/, ':'],
    [/^\d{2}/, '05'],
  ];
  let rest = value;
  for (const [pattern, element] of parts) {
    const match = pattern.exec(rest);
    if (match === null) return [rest, element];
    rest = rest.slice(match[0].length);
  }
  return [rest, 'Z07:00'];
}

function cannotParse(value: string, layout: string, [rest, element]: readonly [string, string]): never {
  fail(value, layout, `cannot parse ${goTimeQuoted(rest)} as ${goTimeQuoted(element)}`);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function checkRanges(value: string, layout: string, parts: readonly string[]): void {
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  if (month < 1 || month > 12) fail(value, layout, 'month out of range');
  if (day < 1 || day > daysIn(year, month)) fail(value, layout, 'day out of range');
  if (hour > 23) fail(value, layout, 'hour out of range');
  if (minute > 59) fail(value, layout, 'minute out of range');
  if (second > 59) fail(value, layout, 'second out of range');
}

/**
 * A time in UTC without its zone, and its fraction. `digits` is the required length of the fraction; any if undefined.
 */
function toUtc(value: string, layout: string, digits?: number): [seconds: string, fraction: string] {
  const match = date.exec(value);
  if (match === null) cannotParse(value, layout, firstMisfit(value));
  const [head] = match;
  const rest = value.slice(head.length);
  const fraction = /^\.\d+/.exec(rest)?.[0] ?? '';
  if (digits !== undefined && fraction.length !== digits + 1)
    cannotParse(value, layout, [rest, `.${'0'.repeat(digits)}`]);
  const offset = rest.slice(fraction.length);
  if (!zone.test(offset)) cannotParse(value, layout, [offset, 'Z07:00']);
  checkRanges(value, layout, match);
  if (offset === 'Z') return [head, fraction];
  return [new Date(head + offset).toISOString().slice(0, 19), fraction];
}

/** A `metav1.Time` as the server writes it: UTC, whole seconds. @throws TimeError */
export function canonicalTime(value: string): string {
  return `${toUtc(value, '2006-01-02T15:04:05Z07:00')[0]}Z`;
}

/** A `metav1.MicroTime` as the server writes it: UTC, six digits. As upstream, six digits are required. @throws TimeError */
export function canonicalMicroTime(value: string): string {
  const [seconds, fraction] = toUtc(value, '2006-01-02T15:04:05.000000Z07:00', 6);
  return `${seconds}${fraction}Z`;
}
