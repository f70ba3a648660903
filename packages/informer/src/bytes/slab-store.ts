import { asBuffer } from '@kctl/apimachinery/internal/wire';
import { SlabMemory } from './slab-memory.js';

/** An entity whose bytes lie in a slab. The slab store sets its place, also when it moves them. */
export interface SlabTenant {
  /** The place of the bytes. Kept after the release, so that a version that is still referenced stays readable. */
  slab: Slab | undefined;
  offset: number;
}

/**
 * The store's own notes before the notes of a tenant. There is a tenant for each event, so tenants have no fields for
 * them.
 */
const own = {
  length: 0,
  /** The tenant's place in {@link Slab.tenants}; -1 when it is no longer one. */
  slot: 1,
} as const;
/** How many words that takes. */
export const ownWords = 2;

/** Memory that tenants read; written content stays as long as it is referenced. */
export interface Slab {
  readonly buffer: Buffer;
  /** The same memory in words, because a tenant's notes about its bytes lie before them. */
  readonly words: Int32Array;
}

/** A slab of a {@link SlabStore}: it is only ever appended to. */
interface OwnSlab<T extends SlabTenant> extends Slab {
  used: number;
  /** Bytes of tenants that were not released. */
  live: number;
  tenants: (T | undefined)[];
  /** Before which place no tenant is left. */
  next: number;
  /** Whether a tenant was released that may still read, because it was replaced before it was parsed. */
  hasReaders: boolean;
}

/** Place of the bytes of tenants. */
export interface ByteStore {
  /** Bytes held, live or not. */
  readonly heldBytes: number;
  /** Bytes of tenants that were not released, their notes included. */
  readonly liveBytes: number;
  /**
   * Copies a range of `bytes` for a tenant.
   *
   * @throws RangeError when not all of it could be copied, because silently truncated bytes would be detected too late
   */
  put(tenant: SlabTenant, bytes: Uint8Array, range: SlabRange): void;
  /** Gives up a tenant's bytes; it may go on reading them. Releasing twice is harmless. */
  release(tenant: SlabTenant): void;
  /**
   * Releases the bytes of a tenant that does not read them again, so their memory is free at once, without the
   * collector.
   */
  discard(tenant: SlabTenant): void;
  /** How many bytes a tenant has, also after the release. */
  lengthOf(tenant: SlabTenant): number;
}

/**
 * The part of a buffer to keep, from `start` to `end`, without `cutStart` to `cutEnd` (nothing is cut if they are
 * equal).
 */
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
 * Keeps the bytes of many small objects in few large buffers. A slab without live tenants is released at once; if dead
 * bytes make up a third of everything, the tenants of the emptiest slab move to the current one. Released memory is
 * used again when its former content is not referenced.
 */
export class SlabStore<T extends SlabTenant = SlabTenant> implements ByteStore {
  readonly #slabs = new Set<OwnSlab<T>>();
  readonly #memory = new SlabMemory(() => this.#liveBytes);
  /** Number of bytes before those of each tenant, which are the store's own words, then the tenant's. */
  readonly noteBytes: number;
  #current: OwnSlab<T> | undefined;
  #liveBytes = 0;
  #slabBytes = 0;

  /** @param noteWords how many words each tenant has for notes, right before its bytes */
  constructor(noteWords = 0) {
    this.noteBytes = (ownWords + noteWords) * 4;
  }

  get heldBytes(): number {
    return this.#slabBytes + this.#memory.freeBytes;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  put(tenant: T, bytes: Uint8Array, range: SlabRange): void {
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

  release(tenant: T): void {
    const slab = this.#leave(tenant);
    if (slab === undefined) return;
    slab.hasReaders = true;
    this.#shrunk(slab);
  }

  discard(tenant: T): void {
    const slab = this.#leave(tenant);
    if (slab !== undefined) this.#shrunk(slab);
  }

  /** The tenants whose bytes have been here for longest, at most these many and about these many bytes; not the newest. */
  oldest(most: number, bytes: number): T[] {
    const found: T[] = [];
    let size = 0;
    for (const slab of this.#slabs) {
      const end = slab === this.#current ? slab.tenants.length - 1 : slab.tenants.length;
      for (let place = slab.next; place < end && found.length < most && size < bytes; place++) {
        const tenant = slab.tenants[place];
        if (tenant === undefined) {
          if (found.length === 0) slab.next = place + 1;
          continue;
        }
        found.push(tenant);
        size += this.lengthOf(tenant);
      }
      if (found.length > 0) return found;
    }
    return found;
  }

  /** At most these many tenants, from all over the store. */
  spread(most: number): T[] {
    const all = [...this.#slabs].flatMap(({ tenants }) => tenants.filter((tenant) => tenant !== undefined));
    const step = Math.max(1, all.length / most);
    return Array.from({ length: Math.min(most, all.length) }, (_, nth) => all[Math.floor(nth * step)]).filter(
      (tenant) => tenant !== undefined,
    );
  }

  /** Copies the bytes of a tenant and the notes before them. @returns the first position behind the copy, in whole words */
  copyTo(target: Buffer, at: number, tenant: T): number {
    const { slab, offset } = tenant;
    const length = this.lengthOf(tenant);
    slab?.buffer.copy(target, at, offset - this.noteBytes, offset + length);
    return inWords(at + this.noteBytes + length);
  }

  /** Removes a tenant whose bytes have moved elsewhere; reads then use the new place. */
  moveOut(tenant: T): void {
    const slab = this.#leave(tenant);
    if (slab?.live === 0 && slab !== this.#current) this.#giveUp(slab);
  }

  /** Adds a tenant that was moved out, with its notes, from the place at which {@link copyTo} has put it. */
  moveIn(tenant: T, { buffer }: Slab, offset: number, length: number): void {
    const slab = this.#room(length);
    const to = this.#settle(tenant, slab, length);
    const notes = this.noteBytes - ownWords * 4;
    buffer.copy(slab.buffer, to - notes, offset - notes, offset + length);
  }

  #shrunk(slab: OwnSlab<T>): void {
    if (slab.live > 0) this.#compact();
    else if (slab !== this.#current) this.#giveUp(slab);
    else if (slab.hasReaders) this.#compact();
    else rewind(slab);
  }

  #leave(tenant: T): OwnSlab<T> | undefined {
    const { slab } = tenant;
    if (slab === undefined || !isOwn<T>(slab)) return undefined;
    const at = (tenant.offset - this.noteBytes) >> 2;
    const slot = slab.words[at + own.slot] ?? -1;
    if (slot < 0) return undefined;
    slab.tenants[slot] = undefined;
    slab.words[at + own.slot] = -1;
    const bytes = this.lengthOf(tenant) + this.noteBytes;
    slab.live -= bytes;
    this.#liveBytes -= bytes;
    return slab;
  }

  lengthOf({ slab, offset }: SlabTenant): number {
    return slab?.words[((offset - this.noteBytes) >> 2) + own.length] ?? 0;
  }

  #settle(tenant: T, slab: OwnSlab<T>, length: number): number {
    const offset = slab.used + this.noteBytes;
    tenant.slab = slab;
    tenant.offset = offset;
    const at = slab.used >> 2;
    slab.words[at + own.length] = length;
    slab.words[at + own.slot] = slab.tenants.push(tenant) - 1;
    slab.used = inWords(offset + length);
    slab.live += length + this.noteBytes;
    this.#liveBytes += length + this.noteBytes;
    return offset;
  }

  #room(length: number): OwnSlab<T> {
    const current = this.#current;
    const needed = inWords(length + this.noteBytes);
    if (current !== undefined && current.used + needed <= current.buffer.length) return current;
    // As large as the live bytes, so a small store that changes much stays small.
    const size = Math.max(needed, Math.min(maxSlabBytes, Math.max(minSlabBytes, inWords(this.#liveBytes))));
    const buffer = this.#memory.allocate(size);
    const words = new Int32Array(buffer.buffer, buffer.byteOffset, buffer.length >> 2);
    const slab: OwnSlab<T> = { buffer, words, used: 0, live: 0, tenants: [], next: 0, hasReaders: false };
    this.#slabs.add(slab);
    this.#slabBytes += buffer.length;
    this.#current = slab;
    if (current !== undefined && current.live === 0) this.#giveUp(current);
    return slab;
  }

  /** Moves the tenants of the emptiest slab, if too much is dead; at most two bytes for each freed one. */
  #compact(): void {
    const current = this.#current;
    if (current === undefined) return;
    if (this.#slabBytes - current.buffer.length <= this.#liveBytes * maxHeldPerLive) return;
    let emptiest: OwnSlab<T> | undefined;
    for (const slab of this.#slabs)
      if (slab !== current && (emptiest === undefined || isEmptier(slab, emptiest))) emptiest = slab;
    if (emptiest === undefined) return;
    for (const tenant of emptiest.tenants) {
      if (tenant === undefined) continue;
      const { offset } = tenant;
      const length = this.lengthOf(tenant);
      // Before anything changes, because there may be no memory: what has moved by then does not move again.
      this.#room(length);
      this.#leave(tenant);
      this.moveIn(tenant, emptiest, offset, length);
    }
    this.#giveUp(emptiest);
  }

  #giveUp(slab: OwnSlab<T>): void {
    this.#slabs.delete(slab);
    this.#slabBytes -= slab.buffer.length;
    slab.tenants.length = 0;
    slab.live = 0;
    if (slab.hasReaders) this.#memory.takeBackAfter(slab, slab.buffer);
    else this.#memory.takeBack(slab.buffer);
  }
}

function isOwn<T extends SlabTenant>(slab: Slab): slab is OwnSlab<T> {
  return 'hasReaders' in slab;
}

/** Reuses a slab without tenants and readers. If each event is read at once, one slab is enough for all. */
function rewind(slab: OwnSlab<SlabTenant>): void {
  slab.used = 0;
  slab.tenants = [];
  slab.next = 0;
}

function isEmptier(a: OwnSlab<SlabTenant>, b: OwnSlab<SlabTenant>): boolean {
  return a.live * b.buffer.length < b.live * a.buffer.length;
}

/** The next multiple of a word's length. */
function inWords(bytes: number): number {
  return (bytes + 3) & ~3;
}
