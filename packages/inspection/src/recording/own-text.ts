/** Longer names are cut, because those of objects have 253 characters, after a namespace. */
const maxName = 512;

/**
 * Returns a separate string, of at most so many UTF-16 units, because V8 keeps the whole of a long string for a part of
 * it, and the parts of a concatenated string.
 */
export function ownText(text: string, maxUnits: number): string {
  const part = text.length > maxUnits ? `${text.slice(0, maxUnits - 1)}\u2026` : text;
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/** A name as it is recorded. */
export function ownName(name: string): string {
  return name.length > maxName ? ownText(name, maxName) : name;
}

/** The share of a string in the budget, in bytes. V8 takes two for each unit once one is beyond Latin-1. */
export function textSize(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  return 24 + (/[^\u0000-\u00ff]/.test(text) ? 2 * text.length : text.length);
}
