import { readAscii } from '@kctl/apimachinery/internal/wire';

interface Slot {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const slots = 256;

/**
 * Reads short ASCII strings that repeat often, such as namespaces, so that equal strings are created once. Of two
 * strings that fall into one slot the later one stays.
 */
export class TextCache {
  readonly #slots = new Array<Slot | undefined>(slots);

  read(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    const last = bytes[end - 1] ?? 0;
    const place = (length * 31 + last * 7 + (bytes[end - 2] ?? 0) * 13 + (bytes[start] ?? 0)) & (slots - 1);
    const slot = this.#slots[place];
    if (slot !== undefined && slot.bytes.length === length) {
      let index = 0;
      while (index < length && slot.bytes[index] === bytes[start + index]) index++;
      if (index === length) return slot.text;
    }
    const text = readAscii(bytes, start, end);
    this.#slots[place] = { bytes: Uint8Array.prototype.slice.call(bytes, start, end), text };
    return text;
  }
}
