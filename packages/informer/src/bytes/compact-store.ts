import { freeMemory } from '@kctl/apimachinery/internal/wire';
import type { CompactTenant } from './cold-block.js';
import { ColdBlock, headBytes, writeHead } from './cold-block.js';
import { deflate, inflate } from './deflate.js';
import { Dictionary } from './dictionary.js';
import type { ByteStore, Slab, SlabRange } from './slab-store.js';
import { SlabStore } from './slab-store.js';

/**
 * Maximum number of tenants and approximate number of bytes of a block, because reading one object decompresses all of
 * them.
 */
const mostTenants = 8;
const mostBytes = 20 * 1024;
/** A block of which less than this is left is given up, and what is left is as if it had just come. */
const leastLeft = 1 / 4;
/** How many samples a dictionary is chosen from. */
const sampleCount = 12;

/** Options of {@link CompactStore}. */
export interface CompactStoreOptions {
  /** How many words each tenant has for notes, right before its bytes. */
  readonly noteWords: number;
  /** Number of recently added bytes that stay uncompressed. */
  readonly plainBytes: number;
}

/**
 * Keeps the bytes of many small objects, and compresses those that have been unchanged for longest, a block for about
 * each eight added objects, without a timer or a long turn. Released objects stay readable.
 */
export class CompactStore implements ByteStore {
  readonly #options: CompactStoreOptions;
  readonly #plain: SlabStore<CompactTenant>;
  readonly #cold = new SlabStore<ColdBlock>();
  readonly #dictionary = new Dictionary();
  #scratch: Buffer = Buffer.alloc(2 * mostBytes);
  /** The block that was decompressed last, as its tenants are read one after the other. */
  #last: { readonly block: ColdBlock; readonly image: Slab } | undefined;

  constructor(options: CompactStoreOptions) {
    this.#options = options;
    this.#plain = new SlabStore<CompactTenant>(options.noteWords);
  }

  get heldBytes(): number {
    return this.#plain.heldBytes + this.#cold.heldBytes;
  }

  get liveBytes(): number {
    return this.#plain.liveBytes + this.#cold.liveBytes;
  }

  put(tenant: CompactTenant, bytes: Uint8Array, range: SlabRange): void {
    this.#plain.put(tenant, bytes, range);
    // Each added object makes at most two blocks, because objects from dissolved blocks are compressed again.
    for (let blocks = 0; blocks < 2 && this.#plain.liveBytes > this.#options.plainBytes; blocks++)
      if (!this.#compressOldest()) break;
  }

  release(tenant: CompactTenant): void {
    const { slab } = tenant;
    if (!(slab instanceof ColdBlock)) this.#plain.release(tenant);
    else if (slab.leave(tenant)) {
      if (slab.live < slab.size * leastLeft) this.#giveUp(slab);
    }
  }

  discard(tenant: CompactTenant): void {
    if (tenant.slab instanceof ColdBlock) this.release(tenant);
    else this.#plain.discard(tenant);
  }

  lengthOf(tenant: CompactTenant): number {
    return this.#plain.lengthOf(tenant);
  }

  imageOf(block: ColdBlock): Slab {
    if (this.#last?.block === block) return this.#last.image;
    const { slab, offset, length, dictionary, size } = block;
    if (slab === undefined) throw new Error('the block was not stored');
    const from = offset + size * headBytes;
    const frame = slab.buffer.subarray(from, offset + this.#cold.lengthOf(block));
    const buffer = inflate(frame, length, dictionary);
    this.#drop();
    const image = { buffer, words: new Int32Array(buffer.buffer, buffer.byteOffset, length >> 2) };
    this.#last = { block, image };
    return image;
  }

  /** @returns false if there is nothing older than the rest */
  #compressOldest(): boolean {
    const tenants = this.#plain.oldest(mostTenants, mostBytes);
    if (tenants.length === 0) return false;
    const dictionary = this.#dictionary.bytesFor(() => this.#samples());
    const { noteBytes } = this.#plain;
    const heads = Buffer.alloc(tenants.length * headBytes);
    const places: number[] = [];
    let length = 0;
    for (const [index, tenant] of tenants.entries()) {
      places.push(length + noteBytes);
      writeHead(heads, index * headBytes, tenant, length + noteBytes);
      length = this.#copy(tenant, length);
    }
    const frame = deflate(this.#scratch.subarray(0, length), dictionary);
    this.#dictionary.judge(length, frame.length);
    const block = new ColdBlock(this, tenants, length, dictionary);
    const content = Buffer.concat([heads, frame]);
    const end = content.length;
    this.#cold.put(block, content, { start: 0, end, cutStart: end, cutEnd: end });
    for (const [index, tenant] of tenants.entries()) {
      this.#plain.moveOut(tenant);
      tenant.slab = block;
      tenant.offset = places[index] ?? 0;
    }
    return true;
  }

  /** The remaining objects of a block become as recent as newly added ones. */
  #giveUp(block: ColdBlock): void {
    if (block.live > 0) {
      const image = this.imageOf(block);
      for (const tenant of block.tenants)
        this.#plain.moveIn(tenant, image, tenant.offset, this.#plain.lengthOf(tenant));
    }
    if (this.#last?.block === block) this.#drop();
    this.#cold.release(block);
  }

  /**
   * Returns the memory at once, because the collector would otherwise be called for this alone. No view of it is kept.
   */
  #drop(): void {
    const memory = this.#last?.image.buffer.buffer;
    this.#last = undefined;
    if (memory !== undefined) freeMemory(memory);
  }

  /** Copies bytes and notes of a tenant into the scratch, which grows as needed. @returns the end of the copy */
  #copy(tenant: CompactTenant, at: number): number {
    const needed = at + this.#plain.noteBytes + this.#plain.lengthOf(tenant) + 4;
    if (needed > this.#scratch.length) {
      const larger = Buffer.alloc(needed * 2);
      this.#scratch.copy(larger, 0, 0, at);
      this.#scratch = larger;
    }
    return this.#plain.copyTo(this.#scratch, at, tenant);
  }

  #samples(): Buffer[] {
    return this.#plain.spread(sampleCount).map((tenant) => {
      const sample = Buffer.alloc(this.#plain.noteBytes + this.#plain.lengthOf(tenant) + 4);
      return sample.subarray(0, this.#plain.copyTo(sample, 0, tenant));
    });
  }
}
