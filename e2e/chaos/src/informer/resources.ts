import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sleep } from '@kctl/wait';

/** What the process holds on to at a moment of rest. */
export interface Sample {
  readonly heapBytes: number;
  /** Buffers, whose bytes lie outside of the heap. */
  readonly externalBytes: number;
  /** Sockets, timers and other things that keep a process alive. */
  readonly handles: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

export async function takeSample(): Promise<Sample> {
  // Twice: what the first one finalises lets go of buffers only then.
  collect();
  await sleep(20);
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return { heapBytes: heapUsed, externalBytes: external, handles: process.getActiveResourcesInfo().length };
}

/** Growth that noise explains: a short run has not yet compiled everything, nor filled its pools. */
const slack = { factor: 1.15, heapBytes: 6 * 2 ** 20, externalBytes: 8 * 2 ** 20, handles: 12 };
/** With fewer samples, one that was taken at a bad moment decides. */
const leastSamples = 6;

/** The median samples of the first third of a run and of its last one. @returns undefined for too few samples */
export function compareThirds(samples: readonly Sample[]): { first: Sample; last: Sample } | undefined {
  if (samples.length < leastSamples) return undefined;
  const third = Math.floor(samples.length / 3);
  const middle = (part: readonly Sample[]): Sample => ({
    heapBytes: median(part.map((sample) => sample.heapBytes)),
    externalBytes: median(part.map((sample) => sample.externalBytes)),
    handles: median(part.map((sample) => sample.handles)),
  });
  return { first: middle(samples.slice(0, third)), last: middle(samples.slice(-third)) };
}

/** @returns what is larger in the last third than in the first; undefined when nothing is or there are too few samples */
export function findGrowth(samples: readonly Sample[]): string | undefined {
  const thirds = compareThirds(samples);
  if (thirds === undefined) return undefined;
  const { first, last } = thirds;
  for (const [what, field] of [
    ['the heap', 'heapBytes'],
    ['memory in buffers', 'externalBytes'],
  ] as const)
    if (last[field] > first[field] * slack.factor + slack[field])
      return `${what} grew from ${megabytes(first[field])} to ${megabytes(last[field])}`;
  if (last.handles > first.handles + slack.handles) return `handles grew from ${first.handles} to ${last.handles}`;
  return undefined;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

export function describeSample({ heapBytes, externalBytes, handles }: Sample): string {
  return `heap ${megabytes(heapBytes)}, buffers ${megabytes(externalBytes)}, ${handles} handles`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
