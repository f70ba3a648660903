import { goTimeQuoted } from '../values/go-quoted.js';

/** Thrown for a text that is not a time; the message is Go's. */
export class TimeError extends Error {
  override readonly name = 'TimeError';
}

const date = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})/;
const zone = /^(Z|[+-]\d{2}:\d{2})$/;

function fail(text: string, layout: string, why: string): never {
  throw new TimeError(`parsing time ${goTimeQuoted(text)} as ${goTimeQuoted(layout)}: ${why}`);
}

/** Where Go's parser stops in a text that does not even begin with a date: at the first part that does not fit. */
function firstMisfit(text: string): [rest: string, element: string] {
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
  let rest = text;
  for (const [pattern, element] of parts) {
    const match = pattern.exec(rest);
    if (match === null) return [rest, element];
    rest = rest.slice(match[0].length);
  }
  return [rest, 'Z07:00'];
}

function cannotParse(text: string, layout: string, [rest, element]: readonly [string, string]): never {
  fail(text, layout, `cannot parse ${goTimeQuoted(rest)} as ${goTimeQuoted(element)}`);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function checkRanges(text: string, layout: string, parts: readonly string[]): void {
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  if (month < 1 || month > 12) fail(text, layout, 'month out of range');
  if (day < 1 || day > daysIn(year, month)) fail(text, layout, 'day out of range');
  if (hour > 23) fail(text, layout, 'hour out of range');
  if (minute > 59) fail(text, layout, 'minute out of range');
  if (second > 59) fail(text, layout, 'second out of range');
}

/** A time in UTC without its zone, and its fraction. `digits`: how many the fraction must have; any where undefined. */
function toUtc(text: string, layout: string, digits?: number): [seconds: string, fraction: string] {
  const match = date.exec(text);
  if (match === null) cannotParse(text, layout, firstMisfit(text));
  const [head] = match;
  const rest = text.slice(head.length);
  const fraction = /^\.\d+/.exec(rest)?.[0] ?? '';
  if (digits !== undefined && fraction.length !== digits + 1)
    cannotParse(text, layout, [rest, `.${'0'.repeat(digits)}`]);
  const offset = rest.slice(fraction.length);
  if (!zone.test(offset)) cannotParse(text, layout, [offset, 'Z07:00']);
  checkRanges(text, layout, match);
  if (offset === 'Z') return [head, fraction];
  return [new Date(head + offset).toISOString().slice(0, 19), fraction];
}

/** A `metav1.Time` as the server writes it: UTC, whole seconds. @throws TimeError */
export function canonicalTime(text: string): string {
  return `${toUtc(text, '2006-01-02T15:04:05Z07:00')[0]}Z`;
}

/** A `metav1.MicroTime` as the server writes it: UTC, six digits. As upstream, six digits are required. @throws TimeError */
export function canonicalMicroTime(text: string): string {
  const [seconds, fraction] = toUtc(text, '2006-01-02T15:04:05.000000Z07:00', 6);
  return `${seconds}${fraction}Z`;
}
