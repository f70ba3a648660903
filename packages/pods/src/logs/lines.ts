const newline = 0x0a;

/**
 * The lines of a stream that arrives in pieces, without their ends. A line beyond `maxBytes` is split between two
 * characters; a piece is longer only if a single character is.
 */
export async function* linesOf(
  batches: AsyncIterable<readonly Uint8Array[]>,
  maxBytes: number,
): AsyncGenerator<string, void, undefined> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const take = (size = pendingBytes): string => {
    const bytes = Buffer.concat(pending);
    const rest = bytes.subarray(size);
    pending = rest.length === 0 ? [] : [rest];
    pendingBytes = rest.length;
    return bytes.toString('utf8', 0, size);
  };
  for await (const batch of batches) {
    for (const piece of batch) {
      let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      while (rest.length > 0) {
        const end = rest.indexOf(newline);
        const room = Math.max(0, maxBytes - pendingBytes);
        const isWhole = end >= 0 && end <= room;
        // Emitted only after more has arrived, because a full piece may be a whole line, whose end comes with the next
        // piece.
        const full = isWhole || room > 0 ? 0 : pendingBytes - unfinishedBytes(pending);
        if (full > 0) {
          yield take(full);
          continue;
        }
        const size = isWhole ? end : Math.min(rest.length, Math.max(room, 1));
        pending.push(rest.subarray(0, size));
        pendingBytes += size;
        rest = rest.subarray(isWhole ? size + 1 : size);
        if (isWhole) yield take();
      }
    }
  }
  if (pendingBytes > 0) yield take();
}

/** How many bytes at the end are the beginning of a character whose other bytes have still to come. */
function unfinishedBytes(pending: readonly Uint8Array[]): number {
  const tail = Buffer.concat(pending.slice(-4)).subarray(-4);
  for (let back = 1; back <= tail.length; back++) {
    const byte = tail[tail.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

/** Of the character that begins with this byte, in UTF-8. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
