import { systemClock } from '@kctl/wait';

/** Writes the story that a scene tells. */
export interface Narrator {
  /** Begins a chapter. */
  readonly step: (title: string) => void;
  readonly line: (text: string) => void;
}

/** Numbers the chapters and puts the seconds since the start before each line. */
export function createNarrator(write: (line: string) => void): Narrator {
  const startedAt = systemClock.monotonicNow();
  let steps = 0;
  return {
    step: (title) => write(`\n── ${++steps}. ${title} ${'─'.repeat(Math.max(0, 70 - title.length))}`),
    line: (text) => write(`${((systemClock.monotonicNow() - startedAt) / 1000).toFixed(2).padStart(6)}s  ${text}`),
  };
}
