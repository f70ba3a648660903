import { shownValue } from './shown-value.js';

/** Limits of a number among options. */
export interface NumberRange {
  /** The smallest value that is allowed. @default 0 */
  readonly least?: number;
  /** The value itself is not allowed, everything above it is. Replaces `least`. */
  readonly above?: number;
  /** The largest value that is allowed. @default every finite number */
  readonly most?: number;
  /** Whether it must be an integer. @default false */
  readonly integer?: boolean;
  /** Whether `Infinity` is allowed besides. @default false */
  readonly orInfinity?: boolean;
  /** Remedy, or the meaning of a special value; ends the sentence. @default nothing */
  readonly remedy?: string;
}

/**
 * Why a value cannot be the number that an option asks for, in one sentence that names the field, the value and what
 * is expected; undefined where it can. A field whose name ends in `Ms` is said to be in ms. For the constructors of
 * everything that takes durations and counts: a NaN or a text in place of a number shows itself late otherwise, as a
 * loop that never ends or never waits.
 */
export function numberProblem(field: string, value: unknown, range: NumberRange = {}): string | undefined {
  const { least = 0, above, most = Infinity, integer = false, orInfinity = false, remedy } = range;
  if (typeof value === 'number') {
    if (orInfinity && value === Infinity) return undefined;
    const isAbove = above === undefined ? value >= least : value > above;
    if (isAbove && value <= most && Number.isFinite(value) && (!integer || Number.isInteger(value))) return undefined;
  }
  const noun = `${integer ? 'an integer' : 'a number'}${field.endsWith('Ms') ? ' of ms' : ''}`;
  const from = above === undefined ? `≥ ${least}` : `> ${above}`;
  const limits = Number.isFinite(most) ? `${from} and ≤ ${most}` : from;
  const expected = [`${noun} ${limits}`, ...(orInfinity ? ['or Infinity'] : [])].join(' ');
  return `${field} ${shownValue(value)} is not valid: expected ${expected}${remedy === undefined ? '' : `; ${remedy}`}`;
}
