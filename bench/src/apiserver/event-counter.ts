const newline = 10;
const carriageReturn = 13;

/**
 * Counts the events of a watch in the bytes of its HTTP/1.1 connection: the lines of the body, whose chunks may end
 * anywhere, also between an event and its newline.
 */
export class EventCounter {
  #place: 'head' | 'size' | 'body' = 'head';
  /** Of the body of the current chunk, with the line end after it. */
  #left = 0;
  #size = '';
  #lineLength = 0;

  /** How many events end in these bytes. */
  count(bytes: Buffer): number {
    let events = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#place !== 'body') {
        at = this.#line(bytes, at);
        continue;
      }
      const end = Math.min(at + this.#left, bytes.length);
      const bodyEnd = Math.min(at + Math.max(0, this.#left - 2), bytes.length);
      for (
        let found = bytes.indexOf(newline, at);
        found >= 0 && found < bodyEnd;
        found = bytes.indexOf(newline, found + 1)
      )
        events++;
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#place = 'size';
    }
    return events;
  }

  /** Reads on in the head or in the line that tells a chunk's size; returns where it stopped. */
  #line(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? newline;
      if (byte === newline) {
        this.#endLine();
        return at + 1;
      }
      if (byte === carriageReturn) continue;
      this.#lineLength++;
      if (this.#place === 'size') this.#size += String.fromCharCode(byte);
    }
    return bytes.length;
  }

  #endLine(): void {
    if (this.#place === 'head') {
      if (this.#lineLength === 0) this.#place = 'size';
    } else {
      this.#left = Number.parseInt(this.#size, 16) + 2;
      this.#size = '';
      this.#place = 'body';
    }
    this.#lineLength = 0;
  }
}
