import { asBuffer } from '@kctl/apimachinery/wire';
import { SlabMemory } from './slab-memory.js';

/** Something whose bytes lie in a slab. The slab store sets where, also when it moves them. */
export interface SlabTenant {
  /** Where the bytes are. Kept after the release, so that a version that is still referenced stays readable. */
  slab: Slab | undefined;
  offset: number;
}

/** What the store itself notes before the notes of a tenant: there is a tenant for each event, so none has a field for it. */
const own = {
  length: 0,
  /** The tenant's place in {@link Slab.tenants}; -1 when it is no longer one. */
  slot: 1,
} as const;
/** How many words that takes. */
export const ownWords = 2;

/** A piece of memory that is only ever appended to: what was written stays as long as it is referenced. */
export interface Slab {
  readonly buffer: Buffer;
  /** The same memory in words: what a tenant notes about its bytes lies before them. */
  readonly words: Int32Array;
  used: number;
  /** Bytes of tenants that were not released. */
  live: number;
  tenants: (SlabTenant | undefined)[];
}

/** The part of a buffer to keep: from `start` to `end`, without `cutStart` to `cutEnd` (none where they are equal). */
export interface SlabRange {
  readonly start: number;
  readonly end: number;
  readonly cutStart: number;
  readonly cutEnd: number;
}

const minSlabBytes = 64 * 1024;
const maxSlabBytes = 4 * 1024 * 1024;
/** How much may be held for each byte that is live, besides one slab, before the emptiest slab is given up. */
const maxHeldPerLive = 1.5;

/**
 * Keeps the bytes of many small objects in few large buffers. A slab without live tenants is given up at once; where the
 * dead make up a third of everything, the tenants of the emptiest slab move to the current one. Memory that was given up
 * is used again when its former content is not referenced.
 */
export class SlabStore {
  readonly #slabs = new Set<Slab>();
  readonly #memory = new SlabMemory(() => this.#liveBytes);
  /** What lies before the bytes of each tenant: the store's own words, then the tenant's. */
  readonly #noteBytes: number;
  #current: Slab | undefined;
  #liveBytes = 0;
  #slabBytes = 0;
  #isCompacting = false;

  /** @param noteWords how many words each tenant has for notes, right before its bytes */
  constructor(noteWords = 0) {
    this.#noteBytes = (ownWords + noteWords) * 4;
  }

  /** Bytes held, live or not. */
  get heldBytes(): number {
    return this.#slabBytes + this.#memory.freeBytes;
  }

  /** Bytes of tenants that were not released, their notes included. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /**
   * Copies a range of `bytes` for a tenant.
   *
   * @throws RangeError when not all of it could be copied: bytes that are cut off silently would be found out too late
   */
  put(tenant: SlabTenant, bytes: Uint8Array, range: SlabRange): void {
    const { start, end, cutStart, cutEnd } = range;
    const length = end - start - (cutEnd - cutStart);
    const slab = this.#room(length);
    const offset = this.#settle(tenant, slab, length);
    const source = asBuffer(bytes);
    let copied: number;
    if (cutEnd > cutStart) {
      copied = source.copy(slab.buffer, offset, start, cutStart);
      copied += source.copy(slab.buffer, offset + cutStart - start, cutEnd, end);
    } else copied = source.copy(slab.buffer, offset, start, end);
    if (copied === length) return;
    this.release(tenant);
    throw new RangeError(
      `the range ${start} to ${end} (without ${cutStart} to ${cutEnd}) of ${bytes.length} bytes cannot be kept: ${length} bytes were to be copied, ${copied} were`,
    );
  }

  /** Gives up a tenant's bytes; it may go on reading them. Releasing twice is harmless. */
  release(tenant: SlabTenant): void {
    const { slab } = tenant;
    if (slab === undefined) return;
    const at = (tenant.offset - this.#noteBytes) >> 2;
    const slot = slab.words[at + own.slot] ?? -1;
    if (slot < 0) return;
    slab.tenants[slot] = undefined;
    slab.words[at + own.slot] = -1;
    const bytes = this.lengthOf(tenant) + this.#noteBytes;
    slab.live -= bytes;
    this.#liveBytes -= bytes;
    if (slab.live === 0 && slab !== this.#current) this.#giveUp(slab);
    else this.#compact();
  }

  /** How many bytes a tenant has, also after the release. */
  lengthOf({ slab, offset }: SlabTenant): number {
    return slab?.words[((offset - this.#noteBytes) >> 2) + own.length] ?? 0;
  }

  #settle(tenant: SlabTenant, slab: Slab, length: number): number {
    const offset = slab.used + this.#noteBytes;
    tenant.slab = slab;
    tenant.offset = offset;
    const at = slab.used >> 2;
    slab.words[at + own.length] = length;
    slab.words[at + own.slot] = slab.tenants.push(tenant) - 1;
    slab.used = inWords(offset + length);
    slab.live += length + this.#noteBytes;
    this.#liveBytes += length + this.#noteBytes;
    return offset;
  }

  #room(length: number): Slab {
    const current = this.#current;
    const needed = inWords(length + this.#noteBytes);
    if (current !== undefined && current.used + needed <= current.buffer.length) return current;
    // As large as what is alive: a small store that changes much stays small.
    const size = Math.max(needed, Math.min(maxSlabBytes, Math.max(minSlabBytes, inWords(this.#liveBytes))));
    const buffer = this.#memory.allocate(size);
    const words = new Int32Array(buffer.buffer, buffer.byteOffset, buffer.length >> 2);
    const slab: Slab = { buffer, words, used: 0, live: 0, tenants: [] };
    this.#slabs.add(slab);
    this.#slabBytes += buffer.length;
    this.#current = slab;
    if (current !== undefined && current.live === 0) this.#giveUp(current);
    return slab;
  }

  /** Moves the tenants of the emptiest slab, where too much is dead: at most two bytes for each one that gets free. */
  #compact(): void {
    const current = this.#current;
    if (current === undefined || this.#isCompacting) return;
    if (this.#slabBytes - current.buffer.length <= this.#liveBytes * maxHeldPerLive) return;
    let emptiest: Slab | undefined;
    for (const slab of this.#slabs)
      if (slab !== current && (emptiest === undefined || isEmptier(slab, emptiest))) emptiest = slab;
    if (emptiest === undefined) return;
    this.#isCompacting = true;
    for (const tenant of emptiest.tenants) {
      if (tenant === undefined) continue;
      const { offset } = tenant;
      const length = this.lengthOf(tenant);
      const target = this.#room(length);
      this.#liveBytes -= length + this.#noteBytes;
      const to = this.#settle(tenant, target, length);
      const notes = this.#noteBytes - ownWords * 4;
      emptiest.buffer.copy(target.buffer, to - notes, offset - notes, offset + length);
    }
    this.#isCompacting = false;
    this.#giveUp(emptiest);
  }

  #giveUp(slab: Slab): void {
    if (!this.#slabs.delete(slab)) return;
    this.#slabBytes -= slab.buffer.length;
    slab.tenants = [];
    slab.live = 0;
    this.#memory.takeBackAfter(slab, slab.buffer);
  }
}

function isEmptier(a: Slab, b: Slab): boolean {
  return a.live * b.buffer.length < b.live * a.buffer.length;
}

/** The next multiple of a word's length. */
function inWords(bytes: number): number {
  return (bytes + 3) & ~3;
}
