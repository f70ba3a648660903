import { parseJson } from '@kctl/apimachinery';
import { shareFreeze } from '@kctl/cache-index/internal';
import type { AlikePart } from './alike-parts.js';
import { alikeParts, parseSpliced } from './alike-parts.js';

/** Sources of other lengths are not compared, because they are too short to gain, or too long to compare. */
const leastText = 512;
const mostText = 65_536;
/** Minimum share of a source that the parts must make up. */
const leastShare = 0.2;
const leastWait = 8;
const mostWait = 1024;

/**
 * Parses objects of one kind, which have many parts alike. Parts that a source shares with previous ones are neither
 * parsed nor kept again. Results are frozen, and equal to the result of `parseJson` for the source.
 *
 * The parts are learned from two sources in a row, and learned again when sources contain fewer of them; at most at
 * every eighth source, and ever more rarely while that gains nothing.
 */
export class AlikeParser {
  #parts: readonly AlikePart[] = [];
  /** A parsed object with the parts in their places; while there are no parts, the object parsed last. */
  #template: unknown;
  #textBefore: string | undefined;
  /** Number of further sources without these parts to parse before parts are searched again. */
  #wait = 1;
  #nextWait = leastWait;
  /** Number of sources with the parts since they were found. */
  #served = 0;

  /** `base` is the previous version, with which equal parts are shared first; undefined if none. */
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
