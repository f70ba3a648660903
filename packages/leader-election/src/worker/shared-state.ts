import { systemClock, type Clock } from '@kctl/wait';
import { createAwakeClock } from '../awake-clock.js';

/**
 * State that the two threads share without messages, so that neither has to be free for the other to read it. Times are
 * microseconds of a monotonic clock that all threads of a process have in common.
 */
export interface SharedState {
  /** Until when protected work may begin, in ms; 0: it may not. Written by the worker. */
  openUntil: number;
  /** When the lease expires for other candidates, in ms. Written by the worker. */
  expiresAt: number;
  /** The number of the current term, from 1. Written by the worker. */
  term: number;
  /** When the main thread last showed that it is alive, in ms. Written by the main thread. */
  heartbeat: number;
}

const slots = ['openUntil', 'expiresAt', 'term', 'heartbeat'] as const;

/** Memory for {@link sharedState}. */
export function createSharedMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(slots.length * BigInt64Array.BYTES_PER_ELEMENT);
}

/** A view of the memory; every access is atomic. */
export function sharedState(memory: SharedArrayBuffer): SharedState {
  const cells = new BigInt64Array(memory);
  const read = (index: number): number => Number(Atomics.load(cells, index)) / 1000;
  const write = (index: number, ms: number): void => {
    Atomics.store(cells, index, BigInt(Math.round(ms * 1000)));
  };
  return {
    get openUntil() {
      return read(0);
    },
    set openUntil(ms) {
      write(0, ms);
    },
    get expiresAt() {
      return read(1);
    },
    set expiresAt(ms) {
      write(1, ms);
    },
    get term() {
      return read(2);
    },
    set term(term) {
      write(2, term);
    },
    get heartbeat() {
      return read(3);
    },
    set heartbeat(ms) {
      write(3, ms);
    },
  };
}

/** The clock that all threads agree on, suspensions counted. */
export function createProcessClock(bootOffsetMs?: number): Clock {
  const base: Clock = {
    now: () => systemClock.now(),
    monotonicNow: () => Number(process.hrtime.bigint() / 1_000n) / 1000,
    setTimer: (callback, delayMs, options) => systemClock.setTimer(callback, delayMs, options),
  };
  return createAwakeClock({ clock: base, ...(bootOffsetMs === undefined ? {} : { bootOffsetMs }) });
}
