/**
 * The lifetime and complexity suite: what a structure retains, what an operation costs.
 *
 * @packageDocumentation
 */
export { expectCost, expectCount } from './cost.js';
export type { CostOptions, CountOptions, Order } from './cost.js';
export { collectGarbage } from './garbage.js';
export { expectFlatHeap, expectReleased, retainedBytes } from './retention.js';
export type { FlatHeapOptions, Released } from './retention.js';
export { structure } from './structure.js';
export type { CostRow } from './structure.js';
export { withPoolOf } from './pool.js';
