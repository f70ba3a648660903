import type { NamedQuery } from './named-query.js';
import { goQuoted } from '@kctl/crd/internal/engine';
import { badRequest } from './status.js';

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|\u03bcs|ms|s|m|h)/y;

/** A Go duration in ms; undefined if it is invalid. */
export function parseGoDuration(text: string): number | undefined {
  const sign = /^[-+]/.exec(text)?.[0] ?? '';
  const body = text.slice(sign.length);
  if (body === '0') return 0;
  let total = 0;
  let at = 0;
  while (at < body.length) {
    part.lastIndex = at;
    const match = part.exec(body);
    const [whole, digits, unit] = match ?? [];
    if (whole === undefined || digits === undefined || unit === undefined) return undefined;
    total += Number(digits) * (unitMs[unit] ?? 0);
    at += whole.length;
  }
  return at === 0 ? undefined : sign === '-' ? -total : total;
}

/**
 * An integer query parameter; undefined if it is absent. @throws StatusError 400 with Go's message, also for an empty
 * one
 */
export function parseIntParameter<N extends string>(query: NamedQuery<N>, name: N): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const refused = (why: string): Error => badRequest(`strconv.ParseInt: parsing ${goQuoted(text)}: ${why}`);
  if (!/^[-+]?\d+$/.test(text)) throw refused('invalid syntax');
  const exact = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, exact) !== exact) throw refused('value out of range');
  return Number(exact);
}

/**
 * A boolean query parameter, as apimachinery's conversion reads it. Absent, `0` and `false` are false, all else is
 * true.
 */
export function parseBoolParameter<N extends string>(query: NamedQuery<N>, name: N): boolean {
  const text = query.get(name);
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

/** The name of a JSON value's type in messages of Go's decoder. */
export function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The message of Go's decoder about a JSON value that is not an object. */
export function noObjectText(value: unknown): string {
  const type =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKindOf(value)} into Go value of type ${type}`;
}

let formatted: { readonly second: number; readonly text: string } | undefined;

/** RFC 3339 in UTC with whole seconds, as Kubernetes writes a Time. A write formats the same second several times. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (formatted?.second !== second) {
    formatted = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  }
  return formatted.text;
}
