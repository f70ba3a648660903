const newline = 10;
const carriageReturn = 13;

/** How events are told apart: JSON ends with a newline, protobuf begins with its length in four bytes. */
                                         

const lengthBytes = 4;

/**
 * Counts the events of a watch in the bytes of its HTTP/1.1 connection: the lines or frames of the body, whose chunks may
 * end anywhere, also between an event and its newline.
 */
export class EventCounter {
           #framing         ;
  /** Of the length of the present frame: how many bytes have come, and their value so far. */
  #lengthRead = 0;
  #frameLeft = 0;
  #place                           = 'head';
  /** Of the body of the current chunk, with the line end after it. */
  #left = 0;
  #size = '';
  #lineLength = 0;

  constructor(framing          = 'lines') {
    this.#framing = framing;
  }

  /** How many events end in these bytes. */
  count(bytes        )         {
    let events = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#place !== 'body') {
        at = this.#line(bytes, at);
        continue;
      }
      const end = Math.min(at + this.#left, bytes.length);
      const bodyEnd = Math.min(at + Math.max(0, this.#left - 2), bytes.length);
      events += this.#framing === 'lines' ? linesIn(bytes, at, bodyEnd) : this.#framesIn(bytes, at, bodyEnd);
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#place = 'size';
    }
    return events;
  }

  /** How many frames end here. */
  #framesIn(bytes        , from        , to        )         {
    let frames = 0;
    let at = from;
    while (at < to) {
      if (this.#lengthRead < lengthBytes) {
        this.#frameLeft = this.#frameLeft * 256 + (bytes[at] ?? 0);
        this.#lengthRead++;
        at++;
        continue;
      }
      const taken = Math.min(this.#frameLeft, to - at);
      this.#frameLeft -= taken;
      at += taken;
      if (this.#frameLeft > 0) continue;
      frames++;
      this.#lengthRead = 0;
    }
    return frames;
  }

  /** Reads on in the head or in the line that tells a chunk's size; returns where it stopped. */
  #line(bytes        , from        )         {
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

  #endLine()       {
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

function linesIn(bytes        , from        , to        )         {
  let lines = 0;
  for (let at = bytes.indexOf(newline, from); at >= 0 && at < to; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
