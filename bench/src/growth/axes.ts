// Which sizes are measured, and what may grow how: with n, a total may grow like n and a figure for each may not grow.
import type { Size } from './size.js';

/** What one point measures, as `point.ts` prints it. */
export interface Figures {
  /** Resident memory more than before the start, after a collection. */
  readonly bytes: number;
  /** Live heap and buffers of the process, after a collection. */
  readonly heapBytes: number;
  /** From the start to all objects in the store and with all handlers. */
  readonly startMs: number;
  readonly startCpuMs: number;
  /** CPU of an event of a storm that no reader waits for. */
  readonly eventCpuUs: number;
  /** The longest time that the thread computed without a look at its sockets. */
  readonly startTurnMs: number;
  readonly stormTurnMs: number;
  /** From the server's write to the last handler, at 250 events a second. */
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
}

/** A curve: one figure along one axis. */
export interface Curve {
  readonly figure: keyof Figures;
  readonly title: string;
  readonly unit: string;
  /** Divides the figure, to show it in its unit. */
  readonly scale: number;
  /** The exponent that the work itself has: 1 where there is n times as much to do, 0 where there is as much as before. */
  readonly inherent: 0 | 1;
  /** The value from which on the exponent is looked at: what is smaller is the noise of a process. */
  readonly from: number;
}

export interface Axis {
  readonly name: keyof Size;
  /** What is the same for all points. */
  readonly of: string;
  readonly sizes: readonly Size[];
  readonly curves: readonly Curve[];
}

const start: Curve = { figure: 'startCpuMs', title: 'start, CPU', unit: 's', scale: 1000, inherent: 0, from: 500 };
const wall: Curve = { figure: 'startMs', title: 'start to synced', unit: 's', scale: 1000, inherent: 0, from: 1000 };
const heap: Curve = { figure: 'heapBytes', title: 'live heap', unit: 'MB', scale: 1e6, inherent: 0, from: 30e6 };
const resident: Curve = { figure: 'bytes', title: 'resident', unit: 'MB', scale: 1e6, inherent: 0, from: 60e6 };
const event: Curve = { figure: 'eventCpuUs', title: 'CPU of an event', unit: 'µs', scale: 1, inherent: 0, from: 10 };
const turns: readonly Curve[] = [
  { figure: 'startTurnMs', title: 'longest turn, start', unit: 'ms', scale: 1, inherent: 0, from: 25 },
  { figure: 'stormTurnMs', title: 'longest turn, storm', unit: 'ms', scale: 1, inherent: 0, from: 25 },
];
const latency: Curve = { figure: 'latencyP99Ms', title: 'latency, p99', unit: 'ms', scale: 1, inherent: 0, from: 25 };
const growing = (curve: Curve): Curve => ({ ...curve, inherent: 1 });

const point = (size: Partial<Size>): Size => ({ objects: 100_000, kinds: 1, namespaces: 100, handlers: 1, ...size });

export const axes: readonly Axis[] = [
  {
    name: 'objects',
    of: '100 namespaces',
    sizes: [1000, 10_000, 100_000, 1_000_000].map((objects) => point({ objects })),
    curves: [growing(resident), growing(heap), growing(start), growing(wall), event, ...turns, latency],
  },
  {
    name: 'kinds',
    of: '100,000 objects together',
    sizes: [1, 10, 100].map((kinds) => point({ kinds })),
    curves: [resident, heap, start, wall, event, ...turns, latency],
  },
  {
    name: 'namespaces',
    of: '100,000 objects',
    sizes: [1, 10, 100, 1000, 10_000].map((namespaces) => point({ namespaces })),
    curves: [resident, heap, start, wall, event, ...turns, latency],
  },
  {
    name: 'handlers',
    of: '5,000 objects',
    sizes: [1, 10, 100, 1000].map((handlers) => point({ objects: 5000, handlers })),
    curves: [growing(resident), growing(heap), growing(start), growing(wall), growing(event), ...turns, latency],
  },
];
