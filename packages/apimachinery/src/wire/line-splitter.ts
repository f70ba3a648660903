import { skipSpace } from './skip.js';

/** Cuts a stream of newline-delimited JSON, as a watch sends it, into its documents. */
export interface LineSplitter {
  /**
   * Takes the next chunk and returns the documents that end in it, in order, without their line ends; blank lines are
   * left out. A document within one chunk is a view of it, so the chunk belongs to the caller of `push` no more.
   */
  push(chunk: Uint8Array): Uint8Array[];
  /** The rest after the last line end; undefined if it is empty. A clean stream ends with undefined. */
  finish(): Uint8Array | undefined;
}

const newline = 0x0a;

/** A splitter for one stream. */
export function createLineSplitter(): LineSplitter {
  let carry: Uint8Array[] = [];
  const take = (tail: Uint8Array): Uint8Array => {
    if (carry.length === 0) return tail;
    const whole = Buffer.concat([...carry, tail]);
    carry = [];
    return whole;
  };
  const isBlank = (line: Uint8Array): boolean => skipSpace(line, 0, line.length) === line.length;
  return {
    push(chunk) {
      const lines: Uint8Array[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        const line = take(chunk.subarray(start, end));
        if (!isBlank(line)) lines.push(line);
        start = end + 1;
      }
      if (start < chunk.length) carry.push(chunk.subarray(start));
      return lines;
    },
    finish() {
      const rest = take(new Uint8Array(0));
      return isBlank(rest) ? undefined : rest;
    },
  };
}
