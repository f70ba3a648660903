/** How work grows with the size: of one operation for `O(1)` and `O(log n)`, of a whole pass for the others. */
export type Order = 'O(1)' | 'O(log n)' | 'O(n)' | 'O(n log n)';

/** The work at 10 n in units of that at n: far enough from the next order (1, 10, 100) for a noisy machine. */
const allowedRatio: Readonly<Record<Order, number>> = { 'O(1)': 3.5, 'O(log n)': 4, 'O(n)': 28, 'O(n log n)': 32 };
const growth = 10;
const rounds = 5;
const attempts = 3;
/** Below this a ratio of CPU times says nothing. */
const leastMs = 0.2;

/** Options of {@link expectCost}. */
export interface CostOptions<S> {
  /** How the CPU time of one `run` may grow with the size. */
  readonly order: Order;
  /** The smaller size; `run` is measured at this and at ten times as much. Choose it so that a run takes about 2 ms. */
  readonly size: number;
  /** Makes what `run` works on; not measured. */
  readonly prepare: (size: number) => S | Promise<S>;
  /** The measured work: a fixed number of operations for `O(1)` and `O(log n)`, all `size` of them for the others. */
  readonly run: (state: S, size: number) => unknown;
}

/**
 * Proves the cost of an operation by the ratio of CPU time at n and at 10 n: median of 5 rounds,
 * repeated up to 3 times, since load only ever adds noise while a wrong order stays wrong.
 *
 * @throws Error with the ratio
 */
export async function expectCost<S>(options: CostOptions<S>): Promise<void> {
  const { order, size } = options;
  await cpuMs(options, size);
  let ratio = Infinity;
  for (let attempt = 0; attempt < attempts; attempt++) {
    ratio = Math.min(ratio, await medianRatio(options));
    if (ratio <= allowedRatio[order]) return;
  }
  throw tooCostly(order, size, ratio);
}

async function medianRatio<S>(options: CostOptions<S>): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const small = await cpuMs(options, options.size);
    const large = await cpuMs(options, options.size * growth);
    if (large < leastMs) throw new Error(`a run takes ${large} ms of CPU: too little to compare, use a larger size`);
    ratios.push(large / Math.max(small, leastMs / growth));
  }
  ratios.sort((a, b) => a - b);
  return ratios[rounds >> 1] ?? Infinity;
}

/** Of the process: the kernel advances the figure of a single thread in ticks of up to 4 ms only. */
async function cpuMs<S>({ prepare, run }: CostOptions<S>, size: number): Promise<number> {
  const state = await prepare(size);
  const start = process.cpuUsage();
  await run(state, size);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Options of {@link expectCount}. */
export interface CountOptions {
  /** How the number of steps may grow with the size. */
  readonly order: Order;
  readonly size: number;
  /** Does the work on a structure of this size and returns how many steps it took (calls, comparisons, visits). */
  readonly count: (size: number) => number | Promise<number>;
}

/**
 * Proves the cost of an operation by counted steps: exact, hence better than {@link expectCost} where it is possible.
 *
 * @throws Error with the ratio
 */
export async function expectCount({ order, size, count }: CountOptions): Promise<void> {
  const small = await count(size);
  const large = await count(size * growth);
  const ratio = large / Math.max(small, 1);
  if (!(ratio <= allowedRatio[order])) throw tooCostly(order, size, ratio);
}

function tooCostly(order: Order, size: number, ratio: number): Error {
  return new Error(
    `not ${order}: ${size * growth} take ${ratio.toFixed(1)} times the work of ${size}, at most ${allowedRatio[order]} are allowed`,
  );
}
