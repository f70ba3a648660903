import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompactTenant } from './cold-block.js';
import { ColdBlock } from './cold-block.js';
import { CompactStore } from './compact-store.js';
import type { ByteStore } from './slab-store.js';
import { ownWords, SlabStore } from './slab-store.js';

/** A stretch of a store's life: how full it is, how large its texts are, and how many of them keep changing. */
interface Phase {
  readonly texts: number;
  readonly maxLength: number;
  readonly steps: number;
  readonly hot: number;
  readonly seed: number;
}

interface Kept {
  readonly tenant: CompactTenant;
  readonly fill: number;
}

const phases = fc.array(
  fc.record<Phase>({
    texts: fc.integer({ min: 0, max: 400 }),
    maxLength: fc.oneof(fc.integer({ min: 1, max: 6000 }), fc.integer({ min: 1, max: 60_000 }), fc.constant(4_300_000)),
    steps: fc.integer({ min: 0, max: 800 }),
    hot: fc.integer({ min: 1, max: 400 }),
    seed: fc.integer({ min: 0, max: 0x7fffffff }),
  }),
  { minLength: 1, maxLength: 5 },
);

/** What a phase may write at most, so that large texts do not make a run long. */
const maxBytesOfPhase = 24_000_000;

/** A store beside the map that it has to agree with. */
class ModelledStore {
  readonly #noteWords: number;
  readonly #store: ByteStore;
  readonly #model = new Map<number, Kept>();
  /** Given up, but somebody goes on reading them. */
  readonly #outlived: Kept[] = [];
  #written = 0;

  constructor(store: ByteStore, noteWords: number) {
    this.#noteWords = noteWords;
    this.#store = store;
  }

  run({ texts, maxLength, steps, hot, seed }: Phase): void {
    const random = numbersFrom(seed);
    const limit = this.#written + maxBytesOfPhase;
    for (const key of this.#model.keys()) if (key >= texts) this.#delete(key);
    for (let key = this.#model.size; key < texts && this.#written < limit; key++)
      this.#put(key, 1 + random(maxLength), random(256));
    for (let step = 0; step < steps && texts > 0 && this.#written < limit; step++) {
      const key = random(Math.min(hot, texts));
      if (random(8) === 0) this.#delete(key);
      else this.#put(key, 1 + random(maxLength), random(256));
    }
    this.#check();
  }

  #put(key: number, length: number, fill: number): void {
    const cut = length % 7;
    const bytes = Buffer.alloc(length + cut + 2, fill);
    bytes.fill(~fill, 1, 1 + cut);
    const uid = key % 3 === 0 ? '' : `00000000-0000-4000-8000-${String(key).padStart(12, '0')}`;
    const tenant: CompactTenant = { slab: undefined, offset: 0, uid, generation: key % 5 === 0 ? undefined : fill };
    this.#store.put(tenant, bytes, { start: 1, end: length + cut + 1, cutStart: 1, cutEnd: 1 + cut });
    tenant.slab?.words.fill(fill, ...this.#notesOf(tenant));
    this.#written += length;
    this.#delete(key);
    this.#model.set(key, { tenant, fill });
  }

  #delete(key: number): void {
    const kept = this.#model.get(key);
    if (kept === undefined) return;
    this.#model.delete(key);
    if (key % 3 === 1 && key % 50 !== 0) {
      // It was parsed.
      this.#store.discard(kept.tenant);
      return;
    }
    this.#store.release(kept.tenant);
    if (key % 50 === 0) this.#outlived.push(kept);
  }

  #check(): void {
    let live = 0;
    for (const { tenant } of this.#model.values())
      live += this.#store.lengthOf(tenant) + (ownWords + this.#noteWords) * 4;
    if (this.#store instanceof SlabStore) expect(this.#store.liveBytes).toBe(live);
    if (live === 0) expect(this.#store.liveBytes).toBe(0);
    for (const { tenant, fill } of this.#model.values()) this.#checkTenant(tenant, fill);
    for (const { tenant, fill } of this.#outlived) this.#checkTenant(tenant, fill);
  }

  /** Compares before it expects: an expectation costs more than the bytes that it is about. */
  #checkTenant(tenant: CompactTenant, fill: number): void {
    const { slab, offset } = tenant;
    const length = this.#store.lengthOf(tenant);
    const text = slab?.buffer.subarray(offset, offset + length);
    const wanted = filled(fill, length);
    if (text?.equals(wanted) !== true) expect(text).toEqual(wanted);
    const notes = slab?.words.subarray(...this.#notesOf(tenant));
    if (notes?.every((word) => word === fill) !== true) expect(notes).toEqual(fill);
    if (!(slab instanceof ColdBlock)) return;
    if ((slab.uidAt(offset) ?? '') !== tenant.uid) expect(slab.uidAt(offset)).toBe(tenant.uid);
    const generation = tenant.generation ?? -1;
    if (slab.generationAt(offset) !== generation) expect(slab.generationAt(offset)).toBe(generation);
  }

  #notesOf({ offset }: CompactTenant): [number, number] {
    return [(offset >> 2) - this.#noteWords, offset >> 2];
  }
}

const fills = new Map<number, Buffer>();
/** A text of one byte, of a length. */
function filled(fill: number, length: number): Buffer {
  let bytes = fills.get(fill);
  if (bytes === undefined || bytes.length < length) fills.set(fill, (bytes = Buffer.alloc(length, fill)));
  return bytes.subarray(0, length);
}

/** `KCTL_STORES` has CI try more of them. */
const runs = Number(process.env['KCTL_STORES'] ?? 10);

/** Numbers below a bound that follow from a seed. */
function numbersFrom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * bound);
  };
}

describe.each<[string, number, (noteWords: number) => ByteStore]>([
  ['SlabStore', 0, (noteWords) => new SlabStore(noteWords)],
  ['SlabStore', 11, (noteWords) => new SlabStore(noteWords)],
  ['CompactStore', 12, (noteWords) => new CompactStore({ noteWords, plainBytes: 0 })],
  ['CompactStore', 12, (noteWords) => new CompactStore({ noteWords, plainBytes: 200_000 })],
])('%s', (name, noteWords, open) => {
  it(`agrees with a map, whatever it is told to keep and to give up, with ${noteWords} words of notes`, () => {
    fc.assert(
      fc.property(phases, (run) => {
        const store = new ModelledStore(open(noteWords), noteWords);
        for (const phase of run) store.run(phase);
      }),
      // Compressing each of them alone takes longer than all else.
      { numRuns: name === 'CompactStore' ? Math.ceil(runs / 2) : runs },
    );
  });
});
