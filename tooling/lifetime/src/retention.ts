import { collectGarbage, usedBytes } from './garbage.js';

const mostRounds = 20;

/** What {@link expectReleased} looks at. */
export interface Released {
  /** Stays alive during the check: the structure that must not hold the others. */
  readonly keep: unknown;
  /** What has to be collectable while `keep` is alive, by name. */
  readonly released: Readonly<Record<string, object>>;
}

/**
 * Proves that a living structure lets go of something: `make` fills the structure, removes, and returns both. Nothing
 * outside of `make` may refer to what is released.
 *
 * @throws Error that names what is still reachable
 */
export async function expectReleased(make: () => Released | Promise<Released>): Promise<void> {
  const { keep, references } = await weaken(make);
  for (let round = 0; round < mostRounds && held(references).length > 0; round++) await collectGarbage(1);
  const retained = held(references);
  // A use of `keep` after the collections: V8 drops a local variable after its last use.
  if (retained.length > 0) throw new Error(`still reachable while ${typeof keep} is kept: ${retained.join(', ')}`);
}

/** A function of its own: its frame, which holds the strong references, is gone when it returns. */
async function weaken(
  make: () => Released | Promise<Released>,
): Promise<{ keep: unknown; references: Map<string, WeakRef<object>> }> {
  const { keep, released } = await make();
  const references = new Map<string, WeakRef<object>>();
  for (const [name, target] of Object.entries(released)) references.set(name, new WeakRef(target));
  if (references.size === 0) throw new Error('released is empty: name what has to be collectable');
  return { keep, references };
}

function held(references: ReadonlyMap<string, WeakRef<object>>): string[] {
  return [...references].filter(([, reference]) => reference.deref() !== undefined).map(([name]) => name);
}

/** Options of {@link expectFlatHeap}. */
export interface FlatHeapOptions {
  /** Lets many things come and go. What stays afterwards must not depend on the round. */
  readonly churn: (round: number) => unknown;
  /** How often it runs between the two measurements, after one round to warm up. @default 3 */
  readonly rounds?: number;
  /** What the heap may grow by; leave a generous margin below what a leak would cost. @default 1,000,000 */
  readonly allowedBytes?: number;
}

/**
 * Proves that nothing grows with what has gone.
 *
 * @throws Error with the growth
 */
export async function expectFlatHeap(options: FlatHeapOptions): Promise<void> {
  const { churn, rounds = 3, allowedBytes = 1_000_000 } = options;
  await churn(0);
  const before = await usedBytes();
  for (let round = 1; round <= rounds; round++) await churn(round);
  const growth = (await usedBytes()) - before;
  if (growth > allowedBytes)
    throw new Error(`the heap grew by ${growth} bytes in ${rounds} rounds: at most ${allowedBytes} are allowed`);
}

/** What `make` returns, and how many bytes it holds. Compare with a generous margin. */
export async function retainedBytes<T>(make: () => T | Promise<T>): Promise<{ value: T; bytes: number }> {
  const before = await usedBytes();
  const value = await make();
  return { value, bytes: (await usedBytes()) - before };
}
