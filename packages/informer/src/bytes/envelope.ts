import { readText } from '@kctl/apimachinery/internal/wire';

/** Larger objects are joined as strings. */
const maxScratchBytes = 64 * 1024;

/** Beginning of an object whose bytes do not contain its type, e.g. `{"apiVersion":"v1","kind":"Pod",`. */
export class Envelope {
  readonly #start: string;
  readonly #length: number;
  /** The envelope, and room for the object, because one flat string is parsed faster than two joined strings. */
  #scratch: Buffer;

  constructor(type: { readonly apiVersion: string; readonly kind: string }) {
    this.#start = `${JSON.stringify(type).slice(0, -1)},`;
    this.#length = Buffer.byteLength(this.#start);
    this.#scratch = Buffer.from(this.#start);
  }

  /** The JSON of an object, with the envelope. */
  textWith(bytes: Buffer, start: number, end: number): string {
    const length = this.#length + end - start - 1;
    if (length > this.#scratch.length) {
      if (length > maxScratchBytes) return this.#start + readText(bytes, start + 1, end);
      this.#scratch = Buffer.alloc(Math.min(maxScratchBytes, length * 2));
      this.#scratch.write(this.#start);
    }
    bytes.copy(this.#scratch, this.#length, start + 1, end);
    return readText(this.#scratch, 0, length);
  }
}
