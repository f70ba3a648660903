import { asBuffer } from '@kctl/apimachinery/wire';
import { SlabMemory } from './slab-memory.js';

/** Something whose bytes lie in a slab. The slab store tells it where, also when it moves them. */
export interface SlabTenant {
  /** Where the bytes are. Kept after the release, so that a version that somebody still holds stays readable. */
  slab: Slab | undefined;
  offset: number;
  length: number;
  /** Its place in {@link Slab.tenants}; −1 when it is not (or no longer) one. */
  slot: number;
}

/** A piece of memory that is only ever appended to: what was written stays as long as anybody refers to it. */
export interface Slab {
  readonly buffer: Buffer;
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

/**
 * Keeps the bytes of many small objects in few large buffers. Space is reclaimed by compaction: when less than half of
 * a slab is live, its tenants move to the current one, and its memory is used again when nobody holds what it was.
 */
export class SlabStore {
  readonly #slabs = new Set<Slab>();
  readonly #memory = new SlabMemory(() => this.liveBytes);
  #current: Slab | undefined;

  /** Bytes held, live or not. */
  get heldBytes(): number {
    let sum = this.#memory.freeBytes;
    for (const slab of this.#slabs) sum += slab.buffer.length;
    return sum;
  }

  /** Bytes of tenants that were not released. */
  get liveBytes(): number {
    let sum = 0;
    for (const slab of this.#slabs) sum += slab.live;
    return sum;
  }

  /** Copies a range of `bytes` for a tenant. */
  put(tenant: SlabTenant, bytes: Uint8Array, range: SlabRange): void {
    const { start, end, cutStart, cutEnd } = range;
    const length = end - start - (cutEnd - cutStart);
    const slab = this.#room(length);
    const offset = slab.used;
    const source = asBuffer(bytes);
    if (cutEnd > cutStart) {
      source.copy(slab.buffer, offset, start, cutStart);
      source.copy(slab.buffer, offset + cutStart - start, cutEnd, end);
    } else source.copy(slab.buffer, offset, start, end);
    this.#settle(tenant, slab, length);
  }

  /** Gives up a tenant's bytes; it may go on reading them. Releasing twice is harmless. */
  release(tenant: SlabTenant): void {
    const { slab, slot } = tenant;
    if (slab === undefined || slot < 0) return;
    slab.tenants[slot] = undefined;
    tenant.slot = -1;
    slab.live -= tenant.length;
    if (slab !== this.#current) this.#reclaim(slab);
  }

  #settle(tenant: SlabTenant, slab: Slab, length: number): void {
    tenant.slab = slab;
    tenant.offset = slab.used;
    tenant.length = length;
    tenant.slot = slab.tenants.push(tenant) - 1;
    slab.used += length;
    slab.live += length;
  }

  #room(length: number): Slab {
    const current = this.#current;
    if (current !== undefined && current.used + length <= current.buffer.length) return current;
    // As large as what is alive: a small store that changes much stays small.
    const size = Math.max(length, Math.min(maxSlabBytes, Math.max(minSlabBytes, this.liveBytes)));
    const slab: Slab = { buffer: this.#memory.allocate(size), used: 0, live: 0, tenants: [] };
    this.#slabs.add(slab);
    this.#current = slab;
    if (current !== undefined) this.#reclaim(current);
    return this.#current;
  }

  #reclaim(slab: Slab): void {
    if (slab.live * 2 >= slab.used || !this.#slabs.delete(slab)) return;
    for (const tenant of slab.tenants) {
      if (tenant === undefined) continue;
      const { offset, length } = tenant;
      const target = this.#room(length);
      slab.buffer.copy(target.buffer, target.used, offset, offset + length);
      this.#settle(tenant, target, length);
    }
    slab.tenants = [];
    slab.live = 0;
    this.#memory.takeBackAfter(slab, slab.buffer);
  }
}
