import type { NodeResult } from '../results.js';

/** What this process remembers of one object between runs. Losing it costs some applies and the times of states. */
export interface Remembered {
  state?: string;
  reason?: string;
  since: number;
  /** Applies in a row after which fields still differed. */
  unsettled: number;
  /** The configuration of those applies. */
  configuration?: object;
  /** Paths of its empty values that the server does not store. */
  dropped: ReadonlySet<string>;
  lastApplyAt: number;
  /** Times at which a field was taken from another manager, by path. */
  readonly takeovers: Map<string, number[]>;
}

/** Primaries that are remembered; the one that was used longest ago is forgotten first. */
const maxPrimaries = 20_000;

/** Remembers objects by primary. */
export class Memory {
  readonly #primaries = new Map<string, Map<string, Remembered>>();

  of(primaryUid: string, member: string, now: number): Remembered {
    const members = this.#membersOf(primaryUid);
    let known = members.get(member);
    if (known === undefined) {
      known = { since: now, unsettled: 0, dropped: new Set(), lastApplyAt: 0, takeovers: new Map() };
      members.set(member, known);
    }
    return known;
  }

  forget(primaryUid: string): void {
    this.#primaries.delete(primaryUid);
  }

  #membersOf(primaryUid: string): Map<string, Remembered> {
    const members = this.#primaries.get(primaryUid) ?? new Map<string, Remembered>();
    this.#primaries.delete(primaryUid);
    this.#primaries.set(primaryUid, members);
    for (const [oldest] of this.#primaries) {
      if (this.#primaries.size <= maxPrimaries) break;
      this.#primaries.delete(oldest);
    }
    return members;
  }
}

/** The result with the time at which its state and reason began. */
export function withSince(result: Omit<NodeResult, 'since'>, remembered: Remembered, now: number): NodeResult {
  if (remembered.state !== result.state || remembered.reason !== result.reason) {
    remembered.state = result.state;
    remembered.reason = result.reason;
    remembered.since = now;
  }
  return { ...result, since: remembered.since };
}
