import { formatMicroTime } from './record.js';

/**
 * Times for a record, no two in a row alike, because observers see a renewal only by a change, so a wall clock that
 * stands still or jumps back must not hide one. The wall clock has ms; the microseconds are a counter.
 */
export function createStamps(now: () => number, start: number): () => string {
  let micros = Math.floor(start * 1000) % 1000;
  return () => {
    micros = (micros + 1) % 1000;
    return formatMicroTime(now(), micros);
  };
}
