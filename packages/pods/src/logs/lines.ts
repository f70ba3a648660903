const newline = 0x0a;

/** The lines of a text that arrives in pieces, without their ends. A line beyond `maxBytes` comes in several. */
export async function* linesOf(
  batches: AsyncIterable<readonly Uint8Array[]>,
  maxBytes: number,
): AsyncGenerator<string, void, undefined> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const take = (): string => {
    const line = Buffer.concat(pending).toString('utf8');
    pending = [];
    pendingBytes = 0;
    return line;
  };
  for await (const batch of batches) {
    for (const piece of batch) {
      let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      while (rest.length > 0) {
        const end = rest.indexOf(newline);
        const room = maxBytes - pendingBytes;
        const isWhole = end >= 0 && end <= room;
        // Only once more is there: what is full may be a whole line, whose end comes with the next piece.
        if (!isWhole && room === 0) {
          yield take();
          continue;
        }
        const size = isWhole ? end : Math.min(rest.length, room);
        pending.push(rest.subarray(0, size));
        pendingBytes += size;
        rest = rest.subarray(isWhole ? size + 1 : size);
        if (isWhole) yield take();
      }
    }
  }
  if (pendingBytes > 0) yield take();
}
