/** Longer names are cut: those of objects have 253 characters, and a namespace before them. */
const maxName = 512;

/**
 * A text of its own, of at most so many UTF-16 units: V8 keeps the whole of a long text for a part of it, and the parts of
 * a text that was put together.
 */
export function ownText(text: string, maxUnits: number): string {
  const part = text.length > maxUnits ? `${text.slice(0, maxUnits - 1)}\u2026` : text;
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/** A name as it is recorded. */
export function ownName(name: string): string {
  return name.length > maxName ? ownText(name, maxName) : name;
}

/** What a text counts against the budget, in bytes: V8 takes two for each unit once one is beyond Latin-1. */
export function textSize(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  return 24 + (/[^\u0000-\u00ff]/.test(text) ? 2 * text.length : text.length);
}
