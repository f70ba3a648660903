import { deflate } from './deflate.js';

/** With a block behind it, it has to fit into the window of the compressor. */
const mostBytes = 8 * 1024;
const mostSamples = 4;

/**
 * Creates a dictionary from a few of the samples. It chooses one, then repeatedly the one that has least in common with
 * the chosen ones, because a kind has objects of several forms. Undefined if there is nothing to choose from.
 */
export function learnDictionary(samples: readonly Buffer[]): Buffer | undefined {
  let left = samples.filter(({ length }) => length > 0 && length <= mostBytes);
  let dictionary: Buffer | undefined;
  for (let chosen = 0; chosen < mostSamples && left.length > 0; chosen++) {
    const sizes = left.map((sample) => deflate(sample, dictionary).length);
    const place = sizes.indexOf(Math.max(...sizes));
    const sample = left[place] ?? Buffer.alloc(0);
    const joined: Buffer = dictionary === undefined ? sample : Buffer.concat([dictionary, sample]);
    if (joined.length > mostBytes) break;
    dictionary = joined;
    left = left.filter((_, index) => index !== place);
  }
  return dictionary === undefined ? undefined : Buffer.from(dictionary);
}

/** How many blocks make a judgement of a dictionary. */
const judged = 256;
/** How much larger blocks have to become for another dictionary to be looked for. */
const worse = 1.5;

/**
 * The dictionary of the blocks of one kind. Learned at the first block, and again when later ones are compressed less.
 */
export class Dictionary {
  #bytes: Buffer | undefined;
  #isLearned = false;
  #rawBytes = 0;
  #frameBytes = 0;
  #blocks = 0;
  /** Compressed share of the bytes of blocks when the dictionary was new; 0 while unknown. */
  #shareAtFirst = 0;
  /** Number of checks to wait before it may be learned again, doubled each time. */
  #patience = 1;
  #wait = 1;

  /** The dictionary for the next block; `samples` is called if it is to be learned. */
  bytesFor(samples: () => readonly Buffer[]): Buffer | undefined {
    if (!this.#isLearned) {
      this.#isLearned = true;
      this.#bytes = learnDictionary(samples());
    }
    return this.#bytes;
  }

  /** Takes note of how much a block was compressed. */
  judge(rawBytes: number, frameBytes: number): void {
    this.#rawBytes += rawBytes;
    this.#frameBytes += frameBytes;
    if (++this.#blocks < judged) return;
    const share = this.#frameBytes / this.#rawBytes;
    this.#rawBytes = this.#frameBytes = this.#blocks = 0;
    if (this.#shareAtFirst === 0) this.#shareAtFirst = share;
    else if (share > this.#shareAtFirst * worse && --this.#wait <= 0) {
      this.#isLearned = false;
      this.#shareAtFirst = 0;
      this.#patience *= 2;
      this.#wait = this.#patience;
    }
  }
}
