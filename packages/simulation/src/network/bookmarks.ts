const bookmark = Buffer.from('"type":"BOOKMARK"');
const initialEnd = 'initial-events-end';

/** A chunk of a watch, by what its lines are. */
export interface SplitChunk {
  /** All lines but the bookmarks; also that bookmark which ends the initial events, or no list would ever end. */
  readonly events: Uint8Array;
  /** The bookmarks that report only the progress of the watch. */
  readonly bookmarks: Uint8Array;
  /** Whether the initial events end with it. */
  readonly endsInitial: boolean;
}

const nothing = new Uint8Array();

/** Separates the bookmarks of a chunk from its events. */
export function splitBookmarks(bytes: Uint8Array): SplitChunk {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes(bookmark)) return { events: bytes, bookmarks: nothing, endsInitial: false };
  const events: string[] = [];
  const bookmarks: string[] = [];
  let endsInitial = false;
  for (const line of buffer.toString().split(/(?<=\n)/)) {
    const isBookmark = line.includes('"type":"BOOKMARK"');
    const isEnd = isBookmark && line.includes(initialEnd);
    endsInitial ||= isEnd;
    (isBookmark && !isEnd ? bookmarks : events).push(line);
  }
  return { events: Buffer.from(events.join('')), bookmarks: Buffer.from(bookmarks.join('')), endsInitial };
}
