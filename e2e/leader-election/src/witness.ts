import type { LogEntry } from './protocol.js';

/** A time in which one term of one process did protected writes. */
export interface Span {
  readonly identity: string;
  readonly term: number;
  readonly from: number;
  readonly to: number;
  readonly writes: number;
}

/** A protected write as the server applied it, in its order. */
export interface Applied {
  readonly writer: string;
  readonly term: string;
  readonly write: string;
  /** When the witness saw it. */
  readonly seenAt: number;
}

/** Two processes did protected writes at once. */
export interface Violation {
  readonly rule: 'spans overlap' | 'writes interleave';
  readonly first: string;
  readonly second: string;
  readonly detail: string;
}

/** Times at which a process was stopped from outside. */
export type Pauses = readonly { readonly identity: string; readonly at: number }[];

/**
 * The spans of a process's terms: from the begin of the first write to the end of the last. A write ends when its
 * process heard so, or when the server was seen to have applied it, whatever was first: a process that was stopped
 * amid a write hears of it long afterwards. One that was never applied ends when its process was stopped, if it was.
 */
export function spansOf(
  identity: string,
  log: readonly LogEntry[],
  applied: readonly Applied[],
  pauses: Pauses,
): Span[] {
  const seen = new Map(
    applied.filter(({ writer }) => writer === identity).map(({ write, seenAt }) => [Number(write), seenAt]),
  );
  const stops = [
    ...pauses.filter((pause) => pause.identity === identity).map(({ at }) => at),
    ...log.filter(({ what }) => what === 'stalled').map(({ at }) => at),
  ];
  const ends = new Map<number, Extract<LogEntry, { what: 'end' }>>();
  for (const entry of log) if (entry.what === 'end') ends.set(entry.write, entry);
  const spans = new Map<number, Span>();
  for (const entry of log) {
    if (entry.what !== 'begin') continue;
    const end = ends.get(entry.write);
    if (end?.outcome === 'refused') continue;
    const seenAt = seen.get(entry.write);
    const candidates = [end?.at, seenAt].filter((at) => at !== undefined);
    if (seenAt === undefined) candidates.push(...stops.filter((at) => at >= entry.at));
    // Killed amid a write that nobody saw: it ended there at the latest, with its process.
    const to = candidates.length === 0 ? entry.at : Math.max(entry.at, Math.min(...candidates));
    const span = spans.get(entry.term);
    spans.set(entry.term, {
      identity,
      term: entry.term,
      from: span?.from ?? entry.at,
      to: Math.max(span?.to ?? 0, to),
      writes: (span?.writes ?? 0) + 1,
    });
  }
  return [...spans.values()];
}

/** Pairs of spans of different processes that have a moment in common. */
export function findOverlaps(spans: readonly Span[]): Violation[] {
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const violations: Violation[] = [];
  for (const [index, span] of sorted.entries()) {
    for (const other of sorted.slice(index + 1)) {
      if (other.from > span.to) break;
      if (other.identity === span.identity) continue;
      violations.push({
        rule: 'spans overlap',
        first: `${span.identity}#${span.term}`,
        second: `${other.identity}#${other.term}`,
        detail: `${(Math.min(span.to, other.to) - other.from).toFixed(3)} ms from ${other.from.toFixed(3)}`,
      });
    }
  }
  return violations;
}

/** Terms that wrote again after another had written, in the order of the server: the truth, whatever any clock says. */
export function findInterleaving(applied: readonly Applied[]): Violation[] {
  const over = new Map<string, string>();
  const violations: Violation[] = [];
  let current: string | undefined;
  for (const { writer, term, write } of applied) {
    const id = `${writer}#${term}`;
    if (id === current) continue;
    const by = over.get(id);
    if (by !== undefined)
      violations.push({ rule: 'writes interleave', first: id, second: by, detail: `write ${write} came after it` });
    if (current !== undefined) over.set(current, id);
    current = id;
  }
  return violations;
}
