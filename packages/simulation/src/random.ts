import type { Random } from '@kctl/wait';

/**
 * A reproducible sequence of numbers in [0, 1), by mulberry32. Each purpose uses a stream with a name, so that one
 * which draws more often changes no other.
 */
export function seededRandom(seed: number, stream = ''): Random {
  let state = (seed ^ hashText(stream)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** FNV-1a over the UTF-16 units of a string. */
export function hashText(text: string, from = 0x811c9dc5): number {
  let hash = from;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** One of a list. @throws RangeError for an empty list */
export function pick<T>(items: readonly T[], chance: number): T {
  const item = items[Math.min(items.length - 1, Math.floor(chance * items.length))];
  if (item === undefined) throw new RangeError('pick: the list is empty');
  return item;
}
