import type { Slab, SlabTenant } from './slab-store.js';

/** Something whose bytes may be compressed; what of it is read at each update is noted beside them. */
export interface CompactTenant extends SlabTenant {
  readonly uid: string;
  readonly generation: number | undefined;
}

/** Dependencies of a block on its store. */
export interface ColdHome {
  /** The bytes of a block as they were before they were compressed. */
  imageOf(block: ColdBlock): Slab;
}

/** Per tenant the uid in 16 bytes, the generation, and the place of its bytes in the block. */
export const headBytes = 24;
const generationAt = 16;
const placeAt = 20;
const none = -1;
/** The value does not fit; it is read from the bytes. */
const inBytes = -2;
const usualUid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const noUid = Buffer.alloc(generationAt);

/** Notes the identity of a tenant, whose bytes are going to be at `place` of a block. */
export function writeHead(target: Buffer, at: number, { uid, generation = none }: CompactTenant, place: number): void {
  if (usualUid.test(uid)) target.write(uid.replaceAll('-', ''), at, 'hex');
  else noUid.copy(target, at);
  target.writeInt32LE(generation === (generation | 0) ? generation : inBytes, at + generationAt);
  target.writeInt32LE(place, at + placeAt);
}

/**
 * A few neighbours, compressed together, because a single one shares less with the dictionary than with its neighbours,
 * and a call of the compressor takes as long as compressing ten. Tenants read it as they read any slab; it is then
 * decompressed. Before the compressed bytes are the heads of its tenants.
 */
export class ColdBlock implements Slab, SlabTenant {
  /** The place of heads and compressed bytes, which can still be read there when all tenants have left. */
  slab: Slab | undefined = undefined;
  offset = 0;
  readonly dictionary: Buffer | undefined;
  /** How many bytes were compressed. */
  readonly length: number;
  readonly #home: ColdHome;
  readonly #tenants: (CompactTenant | undefined)[];
  #live: number;

  constructor(home: ColdHome, tenants: CompactTenant[], length: number, dictionary: Buffer | undefined) {
    this.dictionary = dictionary;
    this.length = length;
    this.#home = home;
    this.#tenants = tenants;
    this.#live = tenants.length;
  }

  get buffer(): Buffer {
    return this.#home.imageOf(this).buffer;
  }

  get words(): Int32Array {
    return this.#home.imageOf(this).words;
  }

  /** How many tenants it was made of. */
  get size(): number {
    return this.#tenants.length;
  }

  /** How many tenants have not left. */
  get live(): number {
    return this.#live;
  }

  /** Those that have not left. */
  get tenants(): readonly CompactTenant[] {
    return this.#tenants.filter((tenant) => tenant !== undefined);
  }

  /** @returns false if it has left before */
  leave(tenant: CompactTenant): boolean {
    const place = this.#tenants.indexOf(tenant);
    if (place < 0) return false;
    this.#tenants[place] = undefined;
    this.#live--;
    return true;
  }

  /** The uid of the tenant at a place; undefined if only the bytes contain it. */
  uidAt(place: number): string | undefined {
    const at = this.#headAt(place);
    const buffer = this.slab?.buffer;
    if (buffer === undefined || at < 0 || buffer.compare(noUid, 0, noUid.length, at, at + noUid.length) === 0)
      return undefined;
    const hex = buffer.toString('hex', at, at + generationAt);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** The generation of the tenant at a place, -1 if it has none; undefined if only the bytes contain it. */
  generationAt(place: number): number | undefined {
    const at = this.#headAt(place);
    const noted = at < 0 ? inBytes : this.slab?.buffer.readInt32LE(at + generationAt);
    return noted === inBytes ? undefined : noted;
  }

  #headAt(place: number): number {
    const { offset, slab } = this;
    for (let at = offset; at < offset + this.size * headBytes; at += headBytes)
      if (slab?.buffer.readInt32LE(at + placeAt) === place) return at;
    return -1;
  }
}
