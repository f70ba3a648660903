/** Options of sampling, which decide how many equal entries are written. */
export interface LogSampling {
  /** So many entries of a level and message are written in each period. @default 100 */
  readonly initial?: number;
  /** After these, every so many-th one is written; 0: none. @default 100 */
  readonly thereafter?: number;
  /** Length of a period, in ms. @default 1_000 */
  readonly tickMs?: number;
}

/** Distinct messages that are counted in one period; further ones are written. */
const maxMessages = 4096;

/**
 * Decides which entries are written, by level and message, whatever their fields. Mirrors the sampler of zap, which
 * controller-runtime's production logger has with the same defaults.
 */
export class LogSampler {
  readonly #initial: number;
  readonly #thereafter: number;
  readonly #tickMs: number;
  readonly #counts = new Map<string, { seen: number; suppressed: number }>();
  #periodEnd = -Infinity;

  /** @throws TypeError naming a number that is not valid */
  constructor(sampling: LogSampling) {
    const given: unknown = sampling;
    if (typeof given !== 'object' || given === null)
      throw new TypeError(`createConsoleLogger: sampling is ${String(given)}: expected an object, such as {}`);
    const { initial = 100, thereafter = 100, tickMs = 1_000 } = sampling;
    requireNumber('initial', initial, 1);
    requireNumber('thereafter', thereafter, 0);
    requireNumber('tickMs', tickMs, 1);
    this.#initial = initial;
    this.#thereafter = thereafter;
    this.#tickMs = tickMs;
  }

  /** How many entries were left out since the last one that was written; undefined if this one is left out. */
  admit(level: string, message: string, now: number): number | undefined {
    if (now >= this.#periodEnd || now < this.#periodEnd - this.#tickMs) this.#beginPeriod(now);
    const key = `${level} ${message}`;
    const known = this.#counts.get(key);
    if (known === undefined) {
      if (this.#counts.size >= maxMessages) this.#forgetSilent();
      if (this.#counts.size < maxMessages) this.#counts.set(key, { seen: 1, suppressed: 0 });
      return 0;
    }
    const count = ++known.seen - this.#initial;
    const isWritten = count <= 0 || (this.#thereafter > 0 && count % this.#thereafter === 0);
    const { suppressed } = known;
    known.suppressed = isWritten ? 0 : suppressed + 1;
    return isWritten ? suppressed : undefined;
  }

  /** Messages that have not come again since their period would keep those that come now from being counted. */
  #forgetSilent(): void {
    for (const [key, { seen }] of this.#counts) if (seen === 0) this.#counts.delete(key);
  }

  /** Entries left out at the end of the last period are counted by the first entry of their message in this one. */
  #beginPeriod(now: number): void {
    this.#periodEnd = now + this.#tickMs;
    for (const [key, count] of this.#counts) {
      if (count.suppressed === 0) this.#counts.delete(key);
      else count.seen = 0;
    }
  }
}

function requireNumber(field: string, value: unknown, least: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
  throw new TypeError(
    `createConsoleLogger: sampling.${field} ${String(value)} is not valid: expected an integer ≥ ${least}`,
  );
}
