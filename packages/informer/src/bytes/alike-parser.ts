import { parseJson } from '@kctl/apimachinery';
import { shareFreeze } from '@kctl/cache-index';
import type { AlikePart } from './alike-parts.js';
import { alikeParts, parseSpliced } from './alike-parts.js';

/** Texts of other lengths are not looked at: too short to gain, or too long to compare. */
const leastText = 512;
const mostText = 65_536;
/** What share of a text the parts must make up, to be worth looking for. */
const leastShare = 0.2;
const leastWait = 8;
const mostWait = 1024;

/**
 * Parses objects of one kind, which have many parts alike: what a text has in common with the texts before it is neither
 * parsed nor kept again. Results are frozen, and equal to what `parseJson` makes of the text.
 *
 * Which parts these are is learned from two texts in a row, and learned again when texts come that have less of them;
 * at most at every eighth text, and ever more rarely while that gains nothing.
 */
export class AlikeParser {
  #parts: readonly AlikePart[] = [];
  /** A parsed object that has the parts where they belong; while there are none, the one that was parsed last. */
  #template: unknown;
  #textBefore: string | undefined;
  /** How many more texts without these parts to parse before parts are looked for again. */
  #wait = 1;
  #nextWait = leastWait;
  /** How many texts had the parts since they were found. */
  #served = 0;

  /** `base` is the version before, to share equal parts with first of all; undefined where there is none. */
  parse(text: string, base: unknown): unknown {
    const isFit = text.length >= leastText && text.length <= mostText;
    const spliced = isFit && this.#parts.length > 0 ? parseSpliced(text, this.#parts, base) : undefined;
    if (spliced?.kind === 'misplaced') this.#parts = [];
    const isSpliced = spliced?.kind === 'parsed';
    const object: unknown = shareFreeze(isSpliced ? spliced.value : parseJson(text), base ?? this.#template);
    if (this.#parts.length === 0) this.#template = object;
    if (isSpliced && spliced.saved >= leastShare * text.length) this.#served++;
    else if (isFit) this.#learn(text, object);
    return object;
  }

  #learn(text: string, object: unknown): void {
    if (--this.#wait > 0) return;
    const before = this.#textBefore;
    this.#textBefore = text;
    if (before === undefined) return;
    this.#textBefore = undefined;
    const parts = alikeParts(object, text, before);
    const length = parts.reduce((sum, part) => sum + part.text.length, 0);
    this.#parts = length >= leastShare * text.length ? parts : [];
    this.#template = object;
    this.#nextWait = this.#served >= this.#nextWait ? leastWait : Math.min(this.#nextWait * 2, mostWait);
    this.#wait = this.#nextWait;
    this.#served = 0;
  }
}
