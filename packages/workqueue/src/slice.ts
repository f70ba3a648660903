/**
 * How long a stage holds the event loop before it lets others run, in ms. Three stages can follow each other in one
 * turn (due delays, the pool that they wake, and the rest of either).
 */
export const sliceMs = 2;
