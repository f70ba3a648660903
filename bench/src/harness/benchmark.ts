// What a benchmark is made of. Each program is run in a fresh process and prints one Sample as a line of JSON.
import type { Sample } from './measure.js';

/** A program to measure, or the reason why it cannot be run here. */
export type Prepared = { readonly command: readonly string[]; readonly version: string } | { readonly skipped: string };

/** One of the things that are compared. */
export interface Subject {
  readonly name: string;
  /** Builds the program if need be. The arguments of a measurement are appended to its command. */
  prepare(): Promise<Prepared>;
}

/** A subject with the arguments of one measurement. */
export interface Measurement {
  readonly subject: string;
  readonly args: readonly string[];
}

/** What is read from samples. */
export interface Reading {
  readonly unit: string;
  /** Whether more or less of it is better. */
  readonly better: 'more' | 'less';
  readonly of: (sample: Sample) => number;
}

/** One comparison of ours with one peer. */
export interface Figure {
  readonly figure: string;
  readonly ours: Measurement;
  readonly peer: Measurement;
  readonly reading: Reading;
  /** The ratio that has to be reached; null where the figure is for information. */
  readonly reach: number | null;
  /** The ratio that is aimed at. */
  readonly aim: number | null;
}

/** A figure of ours against a fixed limit, e.g. a pause. */
export interface LimitFigure extends Omit<Figure, 'peer'> {
  readonly limit: number;
}

export interface Benchmark {
  readonly subjects: readonly Subject[];
  readonly figures: readonly (Figure | LimitFigure)[];
}

export const throughput: Reading = { unit: 'ops/s', better: 'more', of: ({ ops, wallMs }) => (ops / wallMs) * 1000 };
export const cpu: Reading = { unit: 'CPU µs/op', better: 'less', of: ({ ops, cpuMs }) => (cpuMs / ops) * 1000 };
export const peakMemory: Reading = {
  unit: 'MiB peak RSS',
  better: 'less',
  of: ({ peakRssMb }) => peakRssMb ?? Number.NaN,
};
export const bytesPerKey: Reading = {
  unit: 'bytes/key',
  better: 'less',
  of: (sample) => sample.bytesPerKey ?? Number.NaN,
};
export const pause: Reading = { unit: 'ms', better: 'less', of: ({ pauseMs }) => pauseMs ?? Number.NaN };

export const usualPause: Reading = {
  unit: 'ms, p99.9',
  better: 'less',
  of: (sample) => sample.pauseP999Ms ?? Number.NaN,
};

/** A figure of throughput, and those of CPU time and peak memory beside it. */
export function compare(figure: string, ours: Measurement, peer: Measurement, reach: number | null): Figure[] {
  const aim = reach === null ? null : reach * 2;
  return [
    { figure, ours, peer, reading: throughput, reach, aim },
    { figure: `${figure}: CPU time`, ours, peer, reading: cpu, reach: null, aim: null },
    { figure: `${figure}: peak memory`, ours, peer, reading: peakMemory, reach: null, aim: null },
  ];
}
